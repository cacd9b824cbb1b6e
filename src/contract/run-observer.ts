import type { Execution, QueueState, Swept, UnattendedEnd } from './execution.ts'

/** Hears of runs, for metrics. */
export interface RunObserver {
  /** A run begins here; the answer is called with how it ended, or with nothing where that could not be written down. */
  started(execution: Execution, workspace: string): (ended?: Execution | undefined) => void
  /** A run was ended here that this process did not run to its end. */
  endedQuietly(end: UnattendedEnd): void
  /** Runs were ended or put back into the queue because nobody looked after them. */
  swept(swept: Swept): void
  /** This many old runs were deleted. */
  pruned(count: number): void
}

/** What is counted in this process, for whoever watches it. */
export interface Metrics extends RunObserver {
  /** In the text format of Prometheus: of tools only those of the workspace and, where names are given, of these names. */
  render(workspace: string, queue: QueueState, names?: ReadonlySet<string>): Promise<string>
}
