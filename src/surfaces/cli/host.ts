import type { LogLevel } from '../../base/logger.ts'
import type { OperationContext } from '../../operations/operation.ts'
import type { Database } from '../../storage/index.ts'

/** What a command needs open before it can work. */
export interface OpenOptions {
  /** Bundled names or paths; all that have a name where absent. */
  readonly configs?: readonly string[] | undefined
  readonly policy?: string | undefined
  readonly logLevel?: LogLevel | undefined
  readonly maxOutput?: number | undefined
  readonly maxFile?: number | undefined
  readonly concurrency?: number | undefined
  readonly containment?: 'pid-namespace' | 'process-group' | undefined
}

/** What `tooldex run` is asked for. */
export interface RunOptions extends OpenOptions {
  readonly classic: boolean
  readonly pinned: readonly string[]
  readonly watch: boolean
}

/** What the process that holds the command line gives it. */
export interface CliHost {
  readonly version: string
  open(options: OpenOptions): OperationContext
  /** Opens the database that the environment names; whoever opens it closes it. */
  openDatabase(): Promise<Database>
  /** Serves MCP on stdio until the client leaves. */
  runStdio(options: RunOptions): Promise<void>
  configNames(): readonly string[]
  /** How a client would start this very program. */
  selfCommand(): readonly string[]
  out(text: string): void
  err(text: string): void
  readonly signal: AbortSignal
  readonly columns: number
  /** Whether a person types, rather than a client. */
  readonly interactive: boolean
}
