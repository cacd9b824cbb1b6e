import type { Problem } from '../base/problem.ts'
import type { CatalogToolInput, Readiness, ToolAnnotations } from './catalog.ts'
import type { Scalar } from './cli-config.ts'
import type { ExecutorKindName, Grant } from './executor-kinds.ts'
import type { ArgConstraint } from './policy.ts'
import type { CommandResult, Isolation, RunOutcome, RunPlan } from './run.ts'
import type { HideSecret, Redactor, ResolveSecret } from './secret.ts'
import type { SourceRef } from './source.ts'
import type { ResolvedTool } from './tool-index.ts'

/** A tool of any source with everything that is needed to run it. */
export interface RunnableTool {
  readonly name: string
  /** The id and version in the registry; null for a tool of a config. */
  readonly id: string | null
  readonly version: number | null
  readonly executorType: ExecutorKindName
  readonly executorConfig: Readonly<Record<string, unknown>>
  readonly scriptContent: string | null
  /** Null where the executor itself validates the arguments, as for tools of configs. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null
  readonly outputSchema: Readonly<Record<string, unknown>>
  readonly annotations: ToolAnnotations
  /** The bounds of each policy on argument values. */
  readonly constraints: readonly Readonly<Record<string, ArgConstraint>>[]
  /** The loaded definition of a tool of a config. */
  readonly resolved?: ResolvedTool | undefined
  /** The name of that config. */
  readonly config?: string | undefined
  /** The stored source of a tool of a whole MCP server. */
  readonly source?: (SourceRef & { readonly isolation: Isolation | 'best' }) | undefined
}

/** One call of one tool, with validated and complete arguments. */
export interface Job {
  readonly tool: RunnableTool
  readonly input: Readonly<Record<string, unknown>>
  /** The caller, whose own account an upstream may need. */
  readonly caller?: string | undefined
  readonly workspace?: string | undefined
  /** Default: the deadline of the executor. */
  readonly timeoutMs?: number | undefined
  /** The upper bound of the deadline, whatever the tool or the caller requests. */
  readonly maxMs?: number | undefined
  /** The grants of the workspace; all of them where absent. */
  readonly grants?: readonly Grant[] | undefined
}

/** The abort reason for an immediate SIGKILL, because another process may soon run the same call. */
export const killAtOnce = 'kill at once'

/** The result of a run without a command. */
export const noResult: CommandResult = Object.freeze({
  stdout: '',
  stderr: '',
  exitCode: null,
  signal: null,
  durationMs: 0,
  truncated: false,
})

/** The levels of log messages of MCP, the most verbose first. */
export const messageLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

export type MessageLevel = (typeof messageLevels)[number]

/** A log message that an upstream sends while it works on a call. */
export interface LogMessage {
  readonly level: MessageLevel
  readonly logger: string
  readonly data: unknown
}

/** The input that a caller can provide to an upstream tool, and the responses to its earlier requests. */
export interface CallerInput {
  /** The least severe log messages that the client wants; those of `info` are recorded where it is absent. */
  readonly logLevel?: MessageLevel | undefined
  /** The capabilities of the client, in the form of MCP. */
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly responses?: Readonly<Record<string, unknown>> | undefined
  /** The state that came with the requests. */
  readonly state?: string | undefined
}

/** The output of a run that ended with INPUT_REQUIRED: the requests to the caller, who may call again with the responses. */
export interface RequestedInput {
  readonly inputRequests: Readonly<Record<string, unknown>>
  readonly requestState?: string | undefined
}

/** A call that a program makes while it runs. */
export interface ProgramCall {
  readonly kind: 'call' | 'search' | 'describe'
  /** The tool of a call. */
  readonly name: string
  readonly input: unknown
  readonly options: unknown
}

/** The answer to the call of a program: a value as JSON, or an error that the program can catch. */
export type ProgramAnswer =
  | { readonly json: string }
  | {
      readonly error: {
        readonly code: string
        readonly message: string
        readonly tool?: string | undefined
        readonly executionId?: string | undefined
      }
    }

/** The abort reason of calls whose program has ended by itself. */
export const programEnded = 'the program has ended'

/** The means of a caller to follow and stop a run. */
export interface RunControls {
  /** Without it, a tool cannot request input from its caller. */
  readonly callerInput?: CallerInput | undefined
  readonly signal?: AbortSignal | undefined
  /** The trace context that is passed to a child process or an upstream. */
  readonly traceparent?: string | undefined
  /** Resolves a reference to a secret; every resolved value is redacted in all outputs of the run. */
  readonly secret?: ResolveSecret | undefined
  /** Redacts another form of a secret, such as its encoding in a header. */
  readonly hide?: HideSecret | undefined
  /** Called with the number of bytes received on both streams, at most a few times a second. */
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** Called with output of the tool as it arrives, up to the same limit as the stored output; `message`: what the text renders. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', text: string, message?: LogMessage) => void) | undefined
  /** Answers the calls of a program; the signal ends with the program. */
  readonly answerCall?: ((call: ProgramCall, controls: RequiredSignal) => Promise<ProgramAnswer>) | undefined
}

/** The signal and the trace of a call that a program makes. */
interface RequiredSignal {
  readonly signal: AbortSignal
  readonly traceparent?: string | undefined
}

/** The extent of a config check. */
export interface CheckOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether to prepare the host for calls now, because the tool is about to be offered. */
  readonly prepare?: boolean | undefined
  /** Whether the caller may start programs of the host; they may where absent. */
  readonly mayStart?: boolean | undefined
}

/** A call that is ready to run, with everything that was derived from its tool and arguments. */
export interface PreparedRun {
  /** All values that a policy bounds: arguments of the call and defaults. */
  readonly bound: readonly BoundValues[]
  readonly deadlineMs: number
  /** Returns exactly the work of `run`, without doing it. */
  plan(): Promise<RunPlan>
  run(controls: RunControls): Promise<RunOutcome>
}

/** One way of running a tool. */
export interface Executor {
  readonly kind: ExecutorKindName
  /** Whether a call of the tool could start now; cheap enough for every tool of a response. */
  readiness(tool: RunnableTool): Readiness
  /** The references to secrets that calls of the tool resolve. */
  secretsOf?(tool: RunnableTool): readonly string[]
  /** The isolation level of a call on this server, where it is known without a trial. */
  isolationOf?(tool: RunnableTool): Isolation | undefined
  /** Derives the bounds, the deadline and the work of a call, once; throws where the tool or the arguments are invalid. */
  prepare(job: Job): PreparedRun
  /** Redactors for the secrets of the executor itself, which apply to all outputs of a tool. */
  redactorsFor?(tool: RunnableTool): readonly Redactor[]
  /** Returns problems of a config that depend on the host or the network; `pointer` is the location of the config. */
  check?(config: unknown, pointer: string, options?: CheckOptions): Promise<readonly Problem[]>
  /** Releases resources that are kept between runs. */
  close?(): Promise<void>
}

/** The validated value of one argument. */
export type ArgValue = Scalar | readonly Scalar[]

/** Validated arguments by name, with defaults; an argument without a value and a default is absent. */
export type ArgValues = ReadonlyMap<string, ArgValue>

/** A value that no bound applies to: its text would depend on where the executor uses it. */
export interface Uncheckable {
  readonly uncheckable: 'an object' | 'an array'
}

/** Arguments as a policy validates them; null where the call passes null. */
export type BoundValues = ReadonlyMap<string, ArgValue | null | Uncheckable>

/** The context of one call of a function. */
export interface FunctionContext {
  /** Aborts when the caller cancels the call or its time is over. */
  readonly signal: AbortSignal
  /** Reports text while the function runs: as progress of the call, and as an event of a recorded execution. */
  report(text: string): void
}

/** A function of this program that can be offered as a tool. */
export interface FunctionTool {
  readonly tool: CatalogToolInput
  /** The time limit of a call that sets none. */
  readonly timeoutMs: number
  /** Runs the function with arguments that match the input schema. */
  readonly run: (input: Readonly<Record<string, unknown>>, context: FunctionContext) => unknown
}
