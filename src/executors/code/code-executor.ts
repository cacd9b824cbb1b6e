import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { ready } from '../../contract/catalog.ts'
import type { Executor, FunctionTool, RunControls } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { type Call, defineExecutor } from '../define-executor.ts'
import { type Deadline, type Ending, failed, runRemoteCall } from '../network/run-remote.ts'

const CodeConfig = z.object({
  /** The id of the tool. */
  function: z.string(),
  /** The label of the only process that has the function. */
  worker: z.string().optional(),
})
type CodeConfig = z.infer<typeof CodeConfig>

const maxReported = 64 * 1024
const maxOutput = 10 * 1024 * 1024

/** Runs functions of this program, by the ids of their tools. */
export const createCodeExecutor = (functions: ReadonlyMap<string, FunctionTool>): Executor =>
  defineExecutor({
    kind: 'code',
    config: CodeConfig,
    deadlineMs: (config) => functions.get(config.function)?.timeoutMs ?? 1,
    readiness: () => ready,
    prepare(call) {
      const { config, input, deadlineMs: timeoutMs } = call
      const planned = { function: config.function, arguments: { ...input } }
      return {
        plan: async () => ({ kind: 'code', isolation: 'none', timeoutMs, call: planned }),
        run: (controls) => perform(functions.get(config.function), call, controls),
      }
    },
  })

/** Calls the function; one that ignores its signal does not delay the end of the call. */
function perform(
  defined: FunctionTool | undefined,
  { config, input, deadlineMs }: Call<CodeConfig>,
  { signal, onOutput, onProgress }: RunControls,
): Promise<RunOutcome> {
  let reported = ''
  const report = (text: string): void => {
    if (reported.length + text.length > maxReported) return
    reported += text
    onOutput?.('stderr', text)
    onProgress?.(reported.length)
  }
  return runRemoteCall({
    subject: 'The function',
    isolation: 'none',
    deadlineMs,
    signal,
    async perform(deadline) {
      if (defined === undefined) throw new TooldexError('UNAVAILABLE', `${config.function} is no longer defined here.`)
      const work = Promise.resolve().then(() =>
        defined.run(structuredClone(input), { signal: deadline.signal, report }),
      )
      return toEnding(config.function, await untilOver(work, deadline))
    },
    failureCode: 'EXECUTION_FAILED',
    describe: (error) => `The function failed: ${error instanceof Error ? error.message : String(error)}`,
    textsOf: () => ({ stdout: '', stderr: reported }),
  })
}

/** The result as JSON: without undefined fields, dates as strings. */
function toEnding(name: string, result: unknown): Ending {
  try {
    const text = JSON.stringify(result) ?? 'null'
    if (text.length > maxOutput)
      return failed(`The result of ${name} has more than ${maxOutput} characters.`, 'OUTPUT_LIMIT')
    return { status: 'SUCCESS', errorCode: null, errorMessage: null, output: JSON.parse(text) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return failed(`The result of ${name} is not JSON: ${reason}`, 'OUTPUT_INVALID')
  }
}

function untilOver<Result>(work: Promise<Result>, deadline: Deadline): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(deadline.reason)
    if (deadline.aborted) abort()
    deadline.once('abort', abort)
    work.then(resolve, reject).finally(() => deadline.off('abort', abort))
  })
}
