/** What a command may use. Each bound protects everyone else from one bad call; raising it costs what it says. */
export interface ProcessLimits {
  /** Kept of each stream; the rest is counted and dropped. Costs this much memory a stream and running call. */
  readonly outputBytes: number
  /** A program that goes on printing past this many times `outputBytes` is killed. */
  readonly outputFactor: number
  /** For tools that name no limit of their own. */
  readonly timeoutMs: number
  /** Between the polite signal and the one that cannot be ignored. */
  readonly graceMs: number
  /** Processes and threads of one call, where the machine lets us bound them. */
  readonly processes: number
  /** The largest file a command may write. */
  readonly fileBytes: number
}

export const defaultLimits: ProcessLimits = {
  outputBytes: 1024 * 1024,
  outputFactor: 64,
  timeoutMs: 30_000,
  graceMs: 500,
  processes: 2048,
  fileBytes: 4 * 1024 ** 3,
}
