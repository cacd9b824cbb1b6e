import type { ArgValues } from './arguments.ts'
import type { CommandPlan, RunOutcome } from './run.ts'
import type { ResolvedTool } from './tool-index.ts'
import type { Readiness } from './tool-state.ts'

/** One call of one tool, its arguments already checked and complete. */
export interface RunRequest {
  readonly tool: ResolvedTool
  readonly values: ArgValues
  /** The values of the config's global arguments. */
  readonly globals: ArgValues
}

/** How a caller follows and stops a run. */
export interface RunControls {
  readonly signal?: AbortSignal | undefined
  /** Called with the bytes seen so far on both streams, at most a few times a second. */
  readonly onProgress?: ((bytes: number) => void) | undefined
}

/** One way of running a tool. */
export interface Executor {
  readonly kind: string
  /** Whether a call of the tool could be started now; cheap enough to be asked of every tool of an answer. */
  readiness(tool: ResolvedTool): Readiness
  /** Exactly what `run` would do, without doing it. */
  plan(request: RunRequest): CommandPlan
  run(request: RunRequest, controls: RunControls): Promise<RunOutcome>
}
