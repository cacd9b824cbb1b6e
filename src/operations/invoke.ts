import type * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { logged } from '../base/logger.ts'
import { workFor } from '../base/semaphore.ts'
import { type Span, untraced } from '../contract/telemetry.ts'
import { findLostKeys } from '../diagnostics/plain-input.ts'
import { toProblemError } from '../diagnostics/problem-error.ts'
import { invalidInput } from './invalid-input.ts'
import type { Operation, OperationContext } from './operation.ts'
import { parseInTurns, safeParseInTurns } from './parse-in-turns.ts'

/** The single entry point for all surfaces: authorize, parse the input, handle, parse the output, log. */
export async function invoke<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  input: unknown,
  context: OperationContext,
): Promise<z.output<Output>> {
  const { tracing = untraced, trace, caller } = context
  const attributes = { 'tooldex.operation': operation.name, 'tooldex.workspace': caller.workspace }
  return tracing.inSpan(operation.name, { kind: 'server', parent: trace?.traceparent, attributes }, (span) =>
    workFor(`${caller.workspace} ${caller.actor}`, () => run(operation, input, withTrace(context, span))),
  )
}

/** Work for a request belongs to the span of the request. */
function withTrace(context: OperationContext, { traceparent, traceId }: Span): OperationContext {
  return traceparent === context.trace?.traceparent ? context : { ...context, trace: { traceparent, traceId } }
}

async function run<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  input: unknown,
  context: OperationContext,
): Promise<z.output<Output>> {
  const started = performance.now()
  const record = (outcome: string) =>
    context.logger.info(operation.name, { outcome, ms: Math.round(performance.now() - started) })
  try {
    if (!context.scopes.has(operation.scope)) {
      throw new TooldexError('FORBIDDEN', `This needs the scope '${operation.scope}' (${operation.name}).`)
    }
    refuseLostKeys(operation, input)
    const parsed = await safeParseInTurns(operation.input, input)
    if (!parsed.success) throw await invalidInput(operation, { input, issues: parsed.issues }, context)
    const output = await parseInTurns(operation.output, await operation.handle(parsed.data, context))
    record('ok')
    return output
  } catch (thrown) {
    const error = logged(context.logger, thrown)
    record(error.code)
    throw error
  }
}

/** Rejects keys that a schema would silently drop. */
function refuseLostKeys({ subject }: { readonly subject?: string }, input: unknown): void {
  if (subject === undefined) return
  const problems = findLostKeys(input)
  if (problems.length > 0) throw toProblemError({ code: 'INPUT_INVALID', what: `The ${subject}`, problems })
}
