import type { LogLevel } from '../../base/logger.ts'
import type { ProcessContext } from '../../operations/operation.ts'
import type { ServerAddress } from '../../operations/registry-client/find-server.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'
import type { Database } from '../../storage/index.ts'

export type { RecordedCall, RegistryClient } from '../../operations/registry-client/registry-client.ts'

/** The parts that a command needs opened. */
export interface OpenOptions {
  /** Names or paths; all named configs if absent. */
  readonly configs?: readonly string[] | undefined
  /** Whether all configs that come with the package are loaded too. */
  readonly bundled?: boolean | undefined
  /** Whether the configs in `TOOLDEX_HOME/configs` are loaded and watched. */
  readonly homeConfigs?: boolean | undefined
  readonly policy?: string | undefined
  readonly logLevel?: LogLevel | undefined
  readonly maxOutput?: number | undefined
  readonly maxFile?: number | undefined
  readonly concurrency?: number | undefined
  /** The maximum number of calls waiting for a slot; further calls are rejected. */
  readonly waiting?: number | undefined
  readonly containment?: 'pid-namespace' | 'process-group' | undefined
  /** The base environment of commands; that of the user if absent. */
  readonly scope?: 'user' | 'service' | undefined
  /** The file that defines the MCP servers whose tools may be registered. */
  readonly mcpServers?: string | undefined
  /** The maximum duration of a call. */
  readonly maxMs?: number | undefined
  /** Permissions of tools that run as processes: limits only, the network, folders. */
  readonly allowLimited?: boolean | undefined
  /** The configs whose tools run with limits only, by name; `*` for all, and for registered commands without an isolation level. */
  readonly limited?: readonly string[] | undefined
  readonly allowNetwork?: boolean | undefined
  readonly allowFolders?: readonly string[] | undefined
  /** Whether the owner of the process may run programs. */
  readonly codeMode?: boolean | undefined
  /** Grants of workspaces, each `WORKSPACE=GRANT,...`. */
  readonly grants?: readonly string[] | undefined
}

/** The options of `tooldex run`. */
export interface RunOptions extends OpenOptions {
  readonly classic: boolean
  readonly pinned: readonly string[]
  readonly watch: boolean
  /** The server whose tools are offered; TOOLDEX_URL, or the local server, if absent. */
  readonly server?: string | undefined
  /** Whether registered tools of a server or the local database are offered, besides those of the configs. */
  readonly registry: boolean
  /** The toolset of the server or the local database whose tools are offered. */
  readonly toolset?: string | undefined
}

/** The options of `tooldex serve`. */
export interface ServeFlags extends OpenOptions {
  readonly host: string
  readonly port: number
  readonly examples: boolean
  /** Whether the server runs tools itself. */
  readonly worker: boolean
  readonly labels: readonly string[]
  /** The maximum wait for running calls at shutdown. */
  readonly drainMs: number
}

/** The options of `tooldex worker`. */
export interface WorkerFlags extends OpenOptions {
  readonly labels: readonly string[]
  /** The maximum wait for running calls at shutdown. */
  readonly drainMs: number
  /** The address of the health and metrics endpoints; none without a port. */
  readonly host: string
  readonly port?: number | undefined
}

/** The services of the process for the command line. */
export interface CliHost {
  readonly version: string
  open(options: OpenOptions): Promise<ProcessContext>
  /** Opens the database that the environment names; the caller closes it. */
  openDatabase(): Promise<Database>
  /** Serves MCP on stdio until the client disconnects. */
  runStdio(options: RunOptions): Promise<void>
  /** Serves HTTP until it is stopped. */
  serve(options: ServeFlags): Promise<void>
  /** Takes queued calls until it is stopped. */
  work(options: WorkerFlags): Promise<void>
  /** Opens the registry of the named server, of the local server, or in the database itself. */
  openRegistry(server: string | undefined): Promise<RegistryClient>
  /** The server named by the argument or the environment, or else the local server. */
  findServer(named?: string): ServerAddress | undefined
  /** The local server, which has the embedded database open. */
  runningServer(): ServerAddress | undefined
  /** Whether a registry exists: a server, a database named by the environment, or the embedded database. */
  registryExists(): boolean
  configNames(): readonly string[]
  /** Opens a file in the editor of the user. */
  edit(file: string): Promise<void>
  /** The command that starts this program: by its path, or portable, for files that are committed. */
  selfCommand(portable?: boolean): readonly string[]
  /** Whether `tooldex` on PATH is this program. */
  isOnPath(): boolean
  out(text: string): void
  /** Writes a long text to standard output with backpressure. */
  outAll(chunks: AsyncIterable<string>): Promise<void>
  err(text: string): void
  readonly signal: AbortSignal
  readonly columns: number
  /** Whether standard input is a terminal. */
  readonly interactive: boolean
}
