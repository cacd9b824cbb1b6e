import type * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { findUnstorable } from '../../diagnostics/plain-input.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { operations } from '../../operations/index.ts'
import {
  createMethods,
  type FollowMethod,
  type MethodOptions,
  type OperationInput,
  type OperationMethods,
  type OperationOutput,
} from '../../operations/methods/methods.ts'
import type { Operation } from '../../operations/operation.ts'
import type { CallControls, RecordedCall, RegistryClient } from '../../operations/registry-client/registry-client.ts'
import type { CallAnswer } from '../../operations/runs/call-tool.ts'

/** The options of a call besides its arguments. */
export interface ProgramCallOptions extends MethodOptions, Partial<Pick<CallControls, 'onOutput' | 'onProgress'>> {
  /** Whether to wait for the approval of a call that requires one; otherwise the answer has the id of its execution. */
  readonly waitForApproval?: boolean | undefined
}

/** The catalog of a program: the three tools of agents, and the operations of a client (`tooldex/client`) in this process. */
export interface ProgramMethods extends OperationMethods<MethodOptions>, FollowMethod {
  search(input?: OperationInput<'tools.search'>, options?: MethodOptions): Promise<OperationOutput<'tools.search'>>
  describe(input: OperationInput<'tools.describe'>, options?: MethodOptions): Promise<OperationOutput<'tools.describe'>>
  /** Calls a tool; a failed tool is an outcome, an invalid or rejected call an error. */
  call(call: RecordedCall, options?: ProgramCallOptions): Promise<CallAnswer>
}

/** The methods on a client, until it is closed. */
export function toProgramMethods(client: RegistryClient, closed: AbortSignal): ProgramMethods {
  const byName = new Map<string, unknown>(operations.map((operation) => [operation.name, operation]))
  const methods = createMethods<MethodOptions>(async (name, input, options) => {
    check(closed, input)
    return client.invoke(byName.get(name) as Operation<z.ZodType, z.ZodType>, { ...input }, toControls(options))
  })
  return {
    ...methods,
    search: (input, options) => methods.tools.search(input ?? {}, options),
    describe: (input, options) => methods.tools.describe(input, options),
    async call(call, { waitForApproval = false, onOutput, onProgress, ...options } = {}) {
      check(closed, call)
      const rest = { onOutput: onOutput ?? ignore, onStatus: ignore, onProgress, waitForApproval }
      return client.call({ ...call, arguments: call.arguments ?? {} }, { ...toControls(options), ...rest })
    },
    async *follow(id, { signal } = {}) {
      check(closed, id)
      for await (const event of client.follow(id)) {
        signal?.throwIfAborted()
        yield event
      }
    },
  }
}

const ignore = (): void => {}

const toControls = ({ signal, traceparent }: MethodOptions) => ({
  ...(signal === undefined ? {} : { signal }),
  ...(traceparent === undefined ? {} : { trace: { traceparent } }),
})

function check(closed: AbortSignal, input: unknown): void {
  if (closed.aborted) throw new TooldexError('UNAVAILABLE', 'This catalog is closed.', { hint: 'Create it again.' })
  const problems = findUnstorable(input)
  if (problems.length > 0) throw toProblemError({ code: 'INPUT_INVALID', what: 'The input', problems })
}
