import type { TooldexError } from '../base/errors.ts'
import { toTooldexError } from '../base/errors.ts'
import type { Environment } from '../base/expand-variables.ts'
import type { Semaphore } from '../base/semaphore.ts'
import type { ArgValues } from '../contract/arguments.ts'
import type { Executor, RunControls, RunRequest } from '../contract/executor.ts'
import type { ArgConstraint } from '../contract/policy.ts'
import type { CommandPlan, RunOutcome } from '../contract/run.ts'
import type { ResolvedTool } from '../contract/tool-index.ts'
import { coerceArguments } from './coerce-arguments.ts'
import { globalValues } from './global-values.ts'

/** What a runner is made of; the layers it joins do not know each other. */
export interface RunnerParts {
  readonly executor: Executor
  readonly env: Environment
  readonly slots: Semaphore
  readonly checkValues: (constraints: Readonly<Record<string, ArgConstraint>>, values: ArgValues) => void
  readonly redactorFor: (tool: ResolvedTool) => (text: string) => string
}

/** The one path of a call: complete and check its arguments, ask the policy, run, redact. */
export interface Runner {
  /** Exactly what a call would run. */
  plan(tool: ResolvedTool, given: Readonly<Record<string, unknown>>): CommandPlan
  run(tool: ResolvedTool, given: Readonly<Record<string, unknown>>, controls?: RunControls): Promise<RunOutcome>
  /** The longest deadline of the calls in hand, those that wait for their turn included. */
  longestMs(): number
  /** Cancels what is running and waits for its end, at most this long. */
  close(withinMs: number): Promise<void>
}

/** Joins an executor with the checks around it. */
export function createRunner(parts: RunnerParts): Runner {
  const closing = new AbortController()
  const running = new Map<Promise<unknown>, RunRequest>()
  const prepare = (tool: ResolvedTool, given: Readonly<Record<string, unknown>>): RunRequest => {
    const values = coerceArguments(tool.tool.args, given)
    const globals = globalValues(tool.globalArgs, parts.env)
    // Values nobody typed are bound as well: a default or a global argument is no way round a policy.
    parts.checkValues(tool.argConstraints, values)
    parts.checkValues(tool.argConstraints, globals)
    return { tool, values, globals }
  }
  return {
    plan(tool, given) {
      const plan = parts.executor.plan(prepare(tool, given))
      const redact = parts.redactorFor(tool)
      return { ...plan, argv: plan.argv.map(redact) }
    },
    async run(tool, given, controls = {}) {
      const request = prepare(tool, given)
      const signal = AbortSignal.any([closing.signal, ...(controls.signal === undefined ? [] : [controls.signal])])
      const work = parts.slots.run(() => parts.executor.run(request, { ...controls, signal }), signal)
      running.set(work, request)
      try {
        return redactOutcome(await work, parts.redactorFor(tool))
      } catch (thrown) {
        return failedToStart(toTooldexError(thrown))
      } finally {
        running.delete(work)
      }
    },
    longestMs: () => Math.max(0, ...Array.from(running.values(), (request) => deadlineOf(request, parts.executor))),
    async close(withinMs) {
      closing.abort()
      const deadline = new Promise((resolve) => setTimeout(resolve, withinMs).unref())
      await Promise.race([Promise.allSettled(running.keys()), deadline])
    },
  }
}

function deadlineOf(request: RunRequest, executor: Executor): number {
  try {
    return executor.plan(request).timeoutMs
  } catch {
    // What cannot be planned any more is about to fail.
    return 0
  }
}

function redactOutcome(outcome: RunOutcome, redact: (text: string) => string): RunOutcome {
  const { stdout, stderr } = outcome.result
  return { ...outcome, result: { ...outcome.result, stdout: redact(stdout), stderr: redact(stderr) } }
}

const startFailures = new Set([
  'COMMAND_NOT_FOUND',
  'COMMAND_NOT_EXECUTABLE',
  'ARGUMENTS_TOO_LONG',
  'RESOURCES_EXHAUSTED',
])

/** A program that could not be started is a failed run; a call that should not have been made stays an error. */
function failedToStart(error: TooldexError): RunOutcome {
  if (!startFailures.has(error.code)) throw error
  const result = { stdout: '', stderr: '', exitCode: null, signal: null, durationMs: 0, truncated: false }
  return { status: 'FAILED', result, errorCode: error.code, errorMessage: `${error.message} ${error.hint}` }
}
