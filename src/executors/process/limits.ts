/** The resource limits of a command; each protects all other calls from a bad one. */
export interface ProcessLimits {
  /** The captured bytes of each stream; the rest is counted and dropped. Costs this much memory per stream and running call. */
  readonly outputBytes: number
  /** A program that prints more than this many times `outputBytes` is killed. */
  readonly outputFactor: number
  /** The timeout of tools without one of their own. */
  readonly timeoutMs: number
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs: number
  /** Processes and threads of one call, if the machine can enforce it. */
  readonly processes: number
  /** The maximum size of a file that a command writes. */
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
