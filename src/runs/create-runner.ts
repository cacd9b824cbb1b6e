import { setMaxListeners } from 'node:events'
import { TooldexError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { type Logger, silentLogger, toLoggedError } from '../base/logger.ts'
import { Semaphore } from '../base/semaphore.ts'
import { withAnySignal } from '../base/until-aborted.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import {
  type BoundValues,
  type Executor,
  type Job,
  noResult,
  type PreparedRun,
  type RunControls,
  type RunnableTool,
} from '../contract/executor.ts'
import { type ExecutorKindName, findExecutorKind, firstWorkspace, type Grant } from '../contract/executor-kinds.ts'
import type { ArgConstraint } from '../contract/policy.ts'
import type { Isolation, RunOutcome, RunPlan } from '../contract/run.ts'
import type { Redactor, SecretScope } from '../contract/secret.ts'
import { type Tracing, untraced } from '../contract/telemetry.ts'
import { logCall } from './log-call.ts'
import { markSuspicious } from './mark-suspicious.ts'
import { bothOf, redactOutcome, redactPlan, redactStream } from './redact.ts'

type Input = Readonly<Record<string, unknown>>

/** The dependencies of a runner, which are independent of each other. */
export interface RunnerParts {
  readonly executors: Partial<Readonly<Record<ExecutorKindName, Executor>>>
  readonly slots: Semaphore
  /** The slots of tools that are no processes of this machine; the same where absent. */
  readonly remoteSlots?: Semaphore | undefined
  readonly checkBoundValues: (
    constraints: Readonly<Record<string, ArgConstraint>>,
    values: BoundValues,
  ) => Promise<void>
  readonly redactorFor: (tool: RunnableTool) => Redactor
  /** The secrets of a run in a workspace; none where absent. */
  readonly openSecrets?: ((workspace: string) => SecretScope) | undefined
  /** The grants of a run in a workspace; throws where its tool needs another one. All grants where absent. */
  readonly grantsFor?: ((tool: RunnableTool, workspace: string) => readonly Grant[]) | undefined
  /** The upper bound of every deadline, whatever the tool or the caller requests. */
  readonly maxMs?: number | undefined
  readonly tracing?: Tracing | undefined
  readonly logger?: Logger | undefined
}

interface SlotOptions {
  readonly concurrency?: number | undefined
  readonly waiting?: number | undefined
  /** Whether several callers share the slots, so that one gets only a share of the queue. */
  readonly isShared: boolean
}

const maxCallerShare = 0.75
// A call of a service or an MCP server needs no process.
const remotePerSlot = 4
/** Each program is a thread with memory of its own. */
const programs = { slots: 4, waiting: 64, waitingEach: 48 }

/** The slots of concurrent calls, and the queue in front of them. */
export const createSlots = ({ concurrency = 8, waiting = 256, isShared }: SlotOptions): Semaphore =>
  new Semaphore({
    slots: concurrency,
    waiting,
    ...(isShared ? { waitingEach: Math.ceil(waiting * maxCallerShare) } : {}),
  })

/** The slots of a runner: those of processes, and more of tools that only send messages. */
export const slotsFor = ({ concurrency = 8, ...options }: SlotOptions): Pick<RunnerParts, 'slots' | 'remoteSlots'> => ({
  slots: createSlots({ ...options, concurrency }),
  remoteSlots: createSlots({ ...options, concurrency: concurrency * remotePerSlot }),
})

/** The options of one call. */
export interface CallOptions {
  readonly timeoutMs?: number | undefined
  readonly traceparent?: string | undefined
  readonly workspace?: string | undefined
  /** The caller as recorded, such as key:ci. */
  readonly caller?: string | undefined
}

/** A call that policies allow, ready to be planned or run. */
export interface PreparedCall extends Job {
  readonly prepared: PreparedRun
  readonly traceparent: string | undefined
  readonly workspace: string | undefined
}

/** The only path of a call: complete and validate its arguments, apply policies, run, validate the output, redact. */
export interface Runner {
  readonly slots: Semaphore
  /** The slots of tools that are no processes of this machine. */
  readonly remoteSlots: Semaphore
  /** The slots for calls of a tool: programs have their own, because their calls need slots while they run. */
  slotsOf(tool: RunnableTool): Semaphore
  /** The executors of this runner. */
  readonly kinds: readonly ExecutorKindName[]
  /** Validates the arguments of a call and applies policies. */
  prepare(tool: RunnableTool, input: Input, options?: CallOptions): Promise<PreparedCall>
  /** Returns exactly the plan that a call would run. */
  plan(tool: RunnableTool, input: Input, options?: CallOptions): Promise<RunPlan>
  /** Runs a prepared call at once; a tool that fails or cannot be started is a result, not an error. */
  perform(call: PreparedCall, controls?: RunControls): Promise<RunOutcome>
  /** Prepares a call, waits for a slot and runs it. */
  run(tool: RunnableTool, input: Input, controls?: RunControls & CallOptions): Promise<RunOutcome>
  /** The longest deadline of the current calls, including those that wait for a slot. */
  maxMs(): number
  /** Cancels all runs and waits for their end, at most this long. */
  close(withinMs: number): Promise<void>
}

/** Combines executors with validation, policies and redaction. */
export function createRunner(parts: RunnerParts): Runner {
  const closing = new AbortController()
  // Every concurrent run listens to it.
  setMaxListeners(0, closing.signal)
  const running = new Map<Promise<unknown>, number>()
  const executorOf = ({ name, executorType }: RunnableTool): Executor => {
    const executor = parts.executors[executorType]
    if (executor !== undefined) return executor
    throw new TooldexError(
      'UNAVAILABLE',
      `${name} needs the executor ${executorType}, which this process does not have.`,
      {
        hint: 'Call it through a server that has this executor, or read about the tool with describe_tool.',
        personHint: 'Call it through a server that has this executor, or read about the tool with: tooldex describe',
      },
    )
  }
  const prepare = async (
    tool: RunnableTool,
    input: Input,
    { timeoutMs, traceparent, workspace, caller }: CallOptions = {},
  ): Promise<PreparedCall> => {
    const executor = executorOf(tool)
    const grants = parts.grantsFor?.(tool, workspace ?? firstWorkspace)
    const complete = await completeInput(tool, input, loadChecks)
    const job = { tool, input: complete, caller, workspace, grants, timeoutMs, maxMs: parts.maxMs }
    const prepared = executor.prepare(job)
    for (const constraints of tool.constraints)
      for (const values of prepared.bound) await parts.checkBoundValues(constraints, values)
    return { ...job, prepared, traceparent, workspace }
  }
  const perform = (call: PreparedCall, controls: RunControls = {}): Promise<RunOutcome> =>
    withAnySignal([closing.signal, controls.signal], (signal) => performUnder(signal, call, controls))
  const performUnder = async (signal: AbortSignal, call: PreparedCall, controls: RunControls): Promise<RunOutcome> => {
    const { tool } = call
    const turn = yieldTurns()
    const secrets = parts.openSecrets?.(call.workspace ?? firstWorkspace)
    const ofExecutor = parts.executors[tool.executorType]?.redactorsFor?.(tool) ?? []
    const redact = [...ofExecutor, secrets?.redact].reduce(bothOf, parts.redactorFor(tool))
    const live = controls.onOutput === undefined ? undefined : redactStream(controls.onOutput, redact)
    const logger = parts.logger ?? silentLogger
    const finish = async (ended: RunOutcome): Promise<RunOutcome> => {
      const outcome = await markSuspicious(tool, await redactOutcome(ended, redact))
      await logCall(logger, { call, outcome, redact })
      return outcome
    }
    try {
      const runControls = { ...controls, onOutput: live?.take, signal, secret: secrets?.resolve, hide: secrets?.hide }
      const outcome = await traced(call, runControls)
      live?.end()
      // Each step is slow for a large output.
      await turn()
      const validated = await validateOutput(tool, outcome, loadChecks)
      await turn()
      return await finish(validated)
    } catch (thrown) {
      return finish(failedToStart(toLoggedError(logger, thrown, { tool: tool.name })))
    }
  }
  /** Child processes and upstreams receive the trace context of the executor's own span. */
  const traced = ({ tool, traceparent, prepared }: PreparedCall, controls: RunControls): Promise<RunOutcome> => {
    const { executorType, name } = tool
    const attributes = { 'tooldex.executor': executorType, 'tooldex.tool': name }
    const options = { parent: traceparent, attributes }
    return (parts.tracing ?? untraced).inSpan(`execute ${executorType}`, options, async (span) => {
      const outcome = await prepared.run({ ...controls, traceparent: span.traceparent })
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
  const { slots, remoteSlots = slots } = parts
  const programSlots = new Semaphore(programs)
  const slotsOf = ({ executorType }: RunnableTool): Semaphore => {
    if (executorType === 'program') return programSlots
    return findExecutorKind(executorType)?.isProcess === false ? remoteSlots : slots
  }
  return {
    slots,
    remoteSlots,
    slotsOf,
    kinds: Object.keys(parts.executors) as ExecutorKindName[],
    prepare,
    async plan(tool, input, options) {
      const { prepared } = await prepare(tool, input, options)
      return redactPlan(await prepared.plan(), parts.redactorFor(tool))
    },
    perform: (call, controls) => track(perform(call, controls), call.prepared.deadlineMs),
    async run(tool, input, controls = {}) {
      const call = await prepare(tool, input, controls)
      const slots = slotsOf(tool)
      const ran = withAnySignal([closing.signal, controls.signal], (signal) =>
        slots.run(() => performUnder(signal, call, controls), { signal }),
      )
      return track(ran, call.prepared.deadlineMs)
    },
    maxMs: () => Math.max(0, ...running.values()),
    async close(withinMs) {
      closing.abort()
      const deadline = new Promise((resolve) => setTimeout(resolve, withinMs).unref())
      const ended = Promise.allSettled(running.keys())
      const released = ended.then(() =>
        Promise.allSettled(Object.values(parts.executors).map((each) => each?.close?.())),
      )
      await Promise.race([released, deadline])
    },
  }
}

/** The executor validates tools of configs; a process that has only those loads no validator. */
async function completeInput(tool: RunnableTool, input: Input, load: LoadChecks): Promise<Input> {
  return tool.inputSchema === null ? input : (await load()).checkInput(tool, tool.inputSchema, input)
}

type LoadChecks = () => Promise<typeof import('./check-input-output.ts')>

/** A dynamic import takes longer than most validations, even of a loaded module. */
const loadChecks: LoadChecks = lazyModule(() => import('./check-input-output.ts'))

async function validateOutput(tool: RunnableTool, outcome: RunOutcome, load: LoadChecks): Promise<RunOutcome> {
  const hasSchema = Object.keys(tool.outputSchema).length > 0
  return hasSchema ? (await load()).checkOutput(tool, outcome) : outcome
}

// A failed run is recorded as such; after any other code nothing was run.
const runFailures = new Set([
  'OUTPUT_LIMIT',
  'COMMAND_NOT_FOUND',
  'COMMAND_NOT_EXECUTABLE',
  'ARGUMENTS_TOO_LONG',
  'RESOURCES_EXHAUSTED',
  'SANDBOX_MISSING',
])

/** A program that could not be started, or whose output cannot be kept, is a failed run; an invalid call remains an error. */
function failedToStart(error: TooldexError): RunOutcome {
  if (!runFailures.has(error.code)) throw error
  return failedOutcome(error.code, `${error.message} ${error.hint}`)
}

/** The outcome of a run that did not start. */
export function failedOutcome(errorCode: string, errorMessage: string, isolation: Isolation = 'none'): RunOutcome {
  return { status: 'FAILED', result: noResult, isolation, errorCode, errorMessage }
}
