import type { TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import type { CliConfig } from './cli-config.ts'

/** A loaded config with its file and its warnings. */
export interface LoadedConfig {
  /** The requested name. */
  readonly name: string
  readonly file: string
  readonly config: CliConfig
  readonly warnings: readonly Problem[]
}

/** A config that could not be loaded. */
export interface LoadFailure {
  readonly name: string
  readonly error: TooldexError
  /** Whether it was found in a folder rather than requested by name. */
  readonly found?: boolean
}

/** The loaded configs and the failures: one invalid file does not affect the others. */
export interface LoadResult {
  readonly configs: readonly LoadedConfig[]
  readonly failures: readonly LoadFailure[]
}

/** An origin of tools that returns its current configs and reports changes. */
export interface Source {
  readonly kind: string
  load(): LoadResult
  /** Calls `onChange` after each change until the signal is aborted. */
  watch(onChange: () => void, signal: AbortSignal): void
}
