import type { Problem } from '../base/problem.ts'
import type { BoundValues } from './arguments.ts'
import type { ToolAnnotations } from './catalog.ts'
import type { Grant } from './grants.ts'
import type { ArgConstraint } from './policy.ts'
import type { ExecutorType } from './registry.ts'
import type { Isolation, RunOutcome, RunPlan } from './run.ts'
import type { HideSecret, ResolveSecret } from './secret.ts'
import type { ResolvedTool } from './tool-index.ts'
import type { Readiness } from './tool-state.ts'

/** A tool with everything that running it takes, wherever it comes from. */
export interface RunnableTool {
  readonly name: string
  /** Where it is kept, and which version of it this is; null for a tool of a config. */
  readonly id: string | null
  readonly version: number | null
  readonly executorType: ExecutorType
  readonly executorConfig: Readonly<Record<string, unknown>>
  readonly scriptContent: string | null
  /** Null where the executor itself reads the arguments, as those of configs are. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null
  readonly outputSchema: Readonly<Record<string, unknown>>
  readonly annotations: ToolAnnotations
  /** What each policy asks of the values of arguments. */
  readonly constraints: readonly Readonly<Record<string, ArgConstraint>>[]
  /** A tool of a config, as it was read. */
  readonly resolved?: ResolvedTool | undefined
  /** The name of that config. */
  readonly config?: string | undefined
}

/** One call of one tool, its arguments already checked and complete. */
export interface Job {
  readonly tool: RunnableTool
  readonly input: Readonly<Record<string, unknown>>
  /** The longest it may take; the executor's own default where absent. */
  readonly timeoutMs?: number | undefined
  readonly workspace?: string | undefined
  /** The parts of the host that the workspace was granted; all of them where absent. */
  readonly grants?: readonly Grant[] | undefined
  /** What a child process or an upstream is told of the trace that the call belongs to. */
  readonly traceparent?: string | undefined
}

/** The reason of a signal that leaves no time for a polite end: another process may soon run the same. */
export const killAtOnce = 'kill at once'

/** How a caller follows and stops a run. */
export interface RunControls {
  readonly signal?: AbortSignal | undefined
  /** Gives what a reference to a secret stands for; whatever it gives is taken out of all that the run shows. */
  readonly secret?: ResolveSecret | undefined
  /** Hides another form of a secret, such as the one it is sent in. */
  readonly hide?: HideSecret | undefined
  /** Called with the bytes seen so far on both streams, at most a few times a second. */
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** Called with what the tool prints, as it prints it; the same bound holds as for what is kept. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined
}

/** How far a check of a config goes. */
export interface CheckOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether what calls need on this host is made now, because the tool is about to be offered. */
  readonly prepare?: boolean | undefined
}

/** One way of running a tool. */
export interface Executor {
  readonly kind: ExecutorType
  /** Whether a call of the tool could be started now; cheap enough to be asked of every tool of an answer. */
  readiness(tool: RunnableTool): Readiness
  /** The level that a call would run at on this server, as far as it is known without trying. */
  isolationOf?(tool: RunnableTool): Isolation | undefined
  /** Everything that a policy binds: what was given, and what nobody typed. */
  boundValues(job: Job): readonly BoundValues[]
  /** How long the job may take. */
  deadlineMs(job: Job): number
  /** Exactly what `run` would do, without doing it. */
  plan(job: Job): RunPlan | Promise<RunPlan>
  run(job: Job, controls: RunControls): Promise<RunOutcome>
  /** What is wrong with a config that only a look at the world outside can tell; `pointer` is where the config stands. */
  check?(config: unknown, pointer: string, options?: CheckOptions): Promise<readonly Problem[]>
  /** Gives up what is kept ready between runs. */
  close?(): Promise<void>
}
