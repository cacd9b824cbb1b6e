import type { Execution } from '../contract/execution.ts'

/** Hears of runs, for metrics and traces. */
export interface RunObserver {
  /** A run begins here; the answer is called with how it ended. */
  started(execution: Execution, workspace: string): (ended: Execution) => void
}
