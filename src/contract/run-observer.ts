import type { Execution, QueueState, Swept, UnattendedEnd } from './execution.ts'

/** Receives events of runs, for metrics. */
export interface RunObserver {
  /** A run starts in this process; the returned function is called with its end, or without one where the final write failed. */
  started(execution: Execution, workspace: string): (ended?: Execution | undefined) => void
  /** This process ended a run that it did not complete. */
  endedQuietly(end: UnattendedEnd): void
  /** Runs without a live worker were ended or returned to the queue. */
  swept(swept: Swept): void
  /** This many old runs were deleted. */
  pruned(count: number): void
}

/** The metrics of this process. */
export interface Metrics extends RunObserver {
  /** Returns the Prometheus text format, with only the tools of the workspace and, where names are passed, of these names. */
  render(workspace: string, queue: QueueState, names?: ReadonlySet<string>): Promise<string>
}
