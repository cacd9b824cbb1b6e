import type { TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import type { CliConfig } from './cli-config.ts'

/** A config that loaded, with where it came from and what is odd about it. */
export interface LoadedConfig {
  /** What it was asked for by. */
  readonly name: string
  readonly file: string
  readonly config: CliConfig
  readonly warnings: readonly Problem[]
}

/** A config that could not be loaded. */
export interface LoadFailure {
  readonly name: string
  readonly error: TooldexError
  /** Whether it was found in a folder, rather than named by somebody. */
  readonly found?: boolean
}

/** What could be loaded, and why the rest could not: one broken file does not take the others with it. */
export interface LoadResult {
  readonly configs: readonly LoadedConfig[]
  readonly failures: readonly LoadFailure[]
}

/** Where tools come from: gives what it has now, and says when that changed. */
export interface Source {
  readonly kind: string
  load(): LoadResult
  /** Calls back after a change until the signal is aborted. */
  watch(onChange: () => void, signal: AbortSignal): void
}
