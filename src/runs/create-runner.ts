import { setMaxListeners } from 'node:events'
import { TooldexError } from '../base/errors.ts'
import { type Logger, logged, silentLogger } from '../base/logger.ts'
import type { Semaphore } from '../base/semaphore.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import type { BoundValues } from '../contract/arguments.ts'
import type { Executor, Job, RunControls, RunnableTool } from '../contract/executor.ts'
import { firstWorkspace, type Grant } from '../contract/grants.ts'
import type { ArgConstraint } from '../contract/policy.ts'
import type { ExecutorType } from '../contract/registry.ts'
import type { Isolation, RunOutcome, RunPlan } from '../contract/run.ts'
import type { Redactor, SecretScope } from '../contract/secret.ts'
import { type Tracing, untraced } from '../contract/tracing.ts'
import { logCall } from './log-call.ts'
import { bothOf, redactOutcome, redactPlan } from './redact.ts'
import { redactStream } from './redact-stream.ts'

type Given = Readonly<Record<string, unknown>>

/** What a runner is made of; the layers it joins do not know each other. */
export interface RunnerParts {
  readonly executors: Partial<Readonly<Record<ExecutorType, Executor>>>
  readonly slots: Semaphore
  readonly checkValues: (constraints: Readonly<Record<string, ArgConstraint>>, values: BoundValues) => Promise<void>
  readonly redactorFor: (tool: RunnableTool) => Redactor
  /** The secrets of a run in a workspace; none where absent. */
  readonly openSecrets?: ((workspace: string) => SecretScope) | undefined
  /** The parts of the host that a run in a workspace has; throws where its tool needs another. All of them where absent. */
  readonly grantsFor?: ((tool: RunnableTool, workspace: string) => readonly Grant[]) | undefined
  /** The longest that any call may take, whatever its tool or caller says. */
  readonly maxMs?: number | undefined
  readonly tracing?: Tracing | undefined
  readonly logger?: Logger | undefined
}

/** How one call is made. */
export interface CallOptions {
  readonly timeoutMs?: number | undefined
  readonly traceparent?: string | undefined
  readonly workspace?: string | undefined
}

/** The one path of a call: complete and check its arguments, ask the policy, run, redact, check what it gave. */
export interface Runner {
  readonly slots: Semaphore
  /** The kinds of tools that it can run. */
  readonly kinds: readonly ExecutorType[]
  /** A call whose arguments are right and allowed. */
  prepare(tool: RunnableTool, given: Given, options?: CallOptions): Promise<Job>
  /** Exactly what a call would run. */
  plan(tool: RunnableTool, given: Given, options?: CallOptions): Promise<RunPlan>
  /** How long a job may take. */
  deadlineMs(job: Job): number
  /** Runs what was prepared, at once; a tool that fails, or that cannot be started, is a result. */
  perform(job: Job, controls?: RunControls): Promise<RunOutcome>
  /** All of it: prepares, waits for a turn, runs. */
  run(tool: RunnableTool, given: Given, controls?: RunControls & CallOptions): Promise<RunOutcome>
  /** The longest deadline of the calls in hand, those that wait for their turn included. */
  maxMs(): number
  /** Cancels what is running and waits for its end, at most this long. */
  close(withinMs: number): Promise<void>
}

/** Joins executors with the checks around them. */
export function createRunner(parts: RunnerParts): Runner {
  const closing = new AbortController()
  // Everything that runs at once listens to it.
  setMaxListeners(0, closing.signal)
  const loadChecks = rememberedChecks()
  const running = new Map<Promise<unknown>, number>()
  const executorOf = ({ name, executorType }: RunnableTool): Executor => {
    const executor = parts.executors[executorType]
    if (executor !== undefined) return executor
    throw new TooldexError('UNAVAILABLE', `${name} is of the kind ${executorType}, which cannot be run here.`, {
      hint: 'Ask a server that has it, or read about the tool with describe_tool.',
      personHint: 'Ask a server that has it, or read about the tool with: tooldex describe',
    })
  }
  const prepare = async (
    tool: RunnableTool,
    given: Given,
    { timeoutMs, traceparent, workspace }: CallOptions = {},
  ): Promise<Job> => {
    const executor = executorOf(tool)
    const grants = parts.grantsFor?.(tool, workspace ?? firstWorkspace)
    const job = { tool, input: await completed(tool, given, loadChecks), traceparent, workspace, grants }
    const bound = executor.boundValues(job)
    for (const constraints of tool.constraints) for (const values of bound) await parts.checkValues(constraints, values)
    const wanted = timeoutMs ?? executor.deadlineMs(job)
    return { ...job, timeoutMs: Math.min(wanted, parts.maxMs ?? wanted) }
  }
  const perform = async (job: Job, controls: RunControls = {}): Promise<RunOutcome> => {
    const signal = joined(closing.signal, controls.signal)
    const turn = yieldTurns()
    const secrets = parts.openSecrets?.(job.workspace ?? firstWorkspace)
    const redact = bothOf(parts.redactorFor(job.tool), secrets?.redact)
    const live = controls.onOutput === undefined ? undefined : redactStream(controls.onOutput, redact)
    const logger = parts.logger ?? silentLogger
    const finish = async (ended: RunOutcome): Promise<RunOutcome> => {
      const outcome = await redactOutcome(ended, redact)
      await logCall(logger, { job, executor: executorOf(job.tool), outcome, redact })
      return outcome
    }
    try {
      const means = { ...controls, onOutput: live?.take, signal, secret: secrets?.resolve, hide: secrets?.hide }
      const outcome = await traced(job, (told) => executorOf(told.tool).run(told, means))
      live?.end()
      // Each step takes its time on a large output.
      await turn()
      const judgedOutcome = await judged(job.tool, outcome, loadChecks)
      await turn()
      return await finish(judgedOutcome)
    } catch (thrown) {
      return finish(failedToStart(logged(logger, thrown, { tool: job.tool.name })))
    }
  }
  /** What the executor starts or calls is told of the executor's own span. */
  const traced = (job: Job, work: (job: Job) => Promise<RunOutcome>): Promise<RunOutcome> => {
    const { executorType, name } = job.tool
    const attributes = { 'tooldex.executor': executorType, 'tooldex.tool': name }
    const options = { parent: job.traceparent, attributes }
    return (parts.tracing ?? untraced).inSpan(`execute ${executorType}`, options, async (span) => {
      const outcome = await work({ ...job, traceparent: span.traceparent })
      span.set({ 'tooldex.isolation': outcome.isolation, 'tooldex.status': outcome.status })
      if (outcome.errorCode !== null) span.fail(outcome.errorCode)
      return outcome
    })
  }
  const track = async <T>(work: Promise<T>, deadlineMs: number): Promise<T> => {
    running.set(work, deadlineMs)
    try {
      return await work
    } finally {
      running.delete(work)
    }
  }
  const deadlineMs = (job: Job): number => job.timeoutMs ?? executorOf(job.tool).deadlineMs(job)
  return {
    slots: parts.slots,
    kinds: Object.keys(parts.executors) as ExecutorType[],
    prepare,
    deadlineMs,
    async plan(tool, given, options) {
      return redactPlan(await executorOf(tool).plan(await prepare(tool, given, options)), parts.redactorFor(tool))
    },
    perform: (job, controls) => track(perform(job, controls), deadlineMs(job)),
    async run(tool, given, controls = {}) {
      const job = await prepare(tool, given, controls)
      const signal = joined(closing.signal, controls.signal)
      return track(
        parts.slots.run(() => perform(job, controls), { signal }),
        deadlineMs(job),
      )
    },
    maxMs: () => Math.max(0, ...running.values()),
    async close(withinMs) {
      closing.abort()
      const deadline = new Promise((resolve) => setTimeout(resolve, withinMs).unref())
      const ended = Promise.allSettled(running.keys())
      const given = ended.then(() => Promise.allSettled(Object.values(parts.executors).map((each) => each?.close?.())))
      await Promise.race([given, deadline])
    },
  }
}

/** Tools of configs are checked by their executor; a process that has only those loads no validator. */
async function completed(tool: RunnableTool, given: Given, load: LoadChecks): Promise<Given> {
  return tool.inputSchema === null ? given : (await load()).checkInput(tool, tool.inputSchema, given)
}

type LoadChecks = () => Promise<typeof import('./check-values.ts')>

/** Asking for a module takes longer than most of what it does, even where it is loaded already. */
function rememberedChecks(): LoadChecks {
  let loaded: ReturnType<LoadChecks> | undefined
  return () => {
    loaded ??= import('./check-values.ts')
    return loaded
  }
}

const joined = (one: AbortSignal, other: AbortSignal | undefined): AbortSignal =>
  other === undefined ? one : AbortSignal.any([one, other])

async function judged(tool: RunnableTool, outcome: RunOutcome, load: LoadChecks): Promise<RunOutcome> {
  const promises = Object.keys(tool.outputSchema).length > 0
  return promises ? (await load()).checkOutput(tool, outcome) : outcome
}

const startFailures = new Set([
  'COMMAND_NOT_FOUND',
  'COMMAND_NOT_EXECUTABLE',
  'ARGUMENTS_TOO_LONG',
  'RESOURCES_EXHAUSTED',
  'SANDBOX_MISSING',
])

/** A program that could not be started is a failed run; a call that should not have been made stays an error. */
function failedToStart(error: TooldexError): RunOutcome {
  if (!startFailures.has(error.code)) throw error
  return failure(error.code, `${error.message} ${error.hint}`)
}

/** A run that never came to run. */
export function failure(errorCode: string, errorMessage: string, isolation: Isolation = 'none'): RunOutcome {
  const result = { stdout: '', stderr: '', exitCode: null, signal: null, durationMs: 0, truncated: false }
  return { status: 'FAILED', result, isolation, errorCode, errorMessage }
}
