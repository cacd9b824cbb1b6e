import type { LogLevel } from '../../base/logger.ts'
import type { OperationContext } from '../../operations/operation.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'
import type { Database } from '../../storage/index.ts'

export type { RecordedCall, RegistryClient } from '../../operations/registry-client/registry-client.ts'

/** What a command needs open before it can work. */
export interface OpenOptions {
  /** Bundled names or paths; all that have a name where absent. */
  readonly configs?: readonly string[] | undefined
  /** Whether all configs that come with the package are loaded too. */
  readonly bundled?: boolean | undefined
  /** Whether the configs in `TOOLDEX_HOME/configs` are loaded too, as they come and go. */
  readonly homeConfigs?: boolean | undefined
  readonly policy?: string | undefined
  readonly logLevel?: LogLevel | undefined
  readonly maxOutput?: number | undefined
  readonly maxFile?: number | undefined
  readonly concurrency?: number | undefined
  /** How many calls may wait for their turn here; more are refused. */
  readonly waiting?: number | undefined
  readonly containment?: 'pid-namespace' | 'process-group' | undefined
  /** Whose environment commands start from; the user's own where absent. */
  readonly scope?: 'user' | 'service' | undefined
  /** The file that names the MCP servers whose tools may be registered. */
  readonly mcpServers?: string | undefined
  /** The longest that any call may take. */
  readonly maxMs?: number | undefined
  /** What tools that are processes may have besides a sandbox: limits only, the network, folders to read. */
  readonly allowLimited?: boolean | undefined
  /** The configs whose tools run with limits only, by name; `*` for all, and for registered commands that ask for nothing. */
  readonly limited?: readonly string[] | undefined
  readonly allowNetwork?: boolean | undefined
  readonly allowFolders?: readonly string[] | undefined
  /** The parts of the host that workspaces were granted, each `WORKSPACE=GRANT,...`. */
  readonly grants?: readonly string[] | undefined
}

/** What `tooldex run` is asked for. */
export interface RunOptions extends OpenOptions {
  readonly classic: boolean
  readonly pinned: readonly string[]
  readonly watch: boolean
  /** The server whose tools are offered; TOOLDEX_URL, or the one that runs here, where absent. */
  readonly server?: string | undefined
  /** Whether registered tools are offered, at a server or in the database here, besides those of the configs. */
  readonly registry: boolean
}

/** What `tooldex serve` is asked for. */
export interface ServeFlags extends OpenOptions {
  readonly host: string
  readonly port: number
  readonly examples: boolean
  /** Whether it runs tools itself. */
  readonly worker: boolean
  readonly labels: readonly string[]
  /** How long it waits for runs to end when it stops. */
  readonly drainMs: number
}

/** What `tooldex worker` is asked for. */
export interface WorkerFlags extends OpenOptions {
  readonly labels: readonly string[]
  /** How long it waits for runs to end when it stops. */
  readonly drainMs: number
  /** Where it answers whoever watches it; nowhere without a port. */
  readonly host: string
  readonly port?: number | undefined
}

/** Where a server answers, and with which key it is asked. */
export interface ServerAddress {
  readonly url: string
  readonly key: string | undefined
  /** Whether somebody named it, rather than that it was found running here. */
  readonly named: boolean
}

/** What the process that holds the command line gives it. */
export interface CliHost {
  readonly version: string
  open(options: OpenOptions): Promise<OperationContext>
  /** Opens the database that the environment names; whoever opens it closes it. */
  openDatabase(): Promise<Database>
  /** Serves MCP on stdio until the client leaves. */
  runStdio(options: RunOptions): Promise<void>
  /** Answers over HTTP until it is stopped. */
  serve(options: ServeFlags): Promise<void>
  /** Takes queued calls until it is stopped. */
  work(options: WorkerFlags): Promise<void>
  /** Opens the registry: at the server named, at the one that runs here, or in the database itself. */
  openRegistry(server: string | undefined): Promise<RegistryClient>
  /** The server that is named here or by the environment, or else runs here. */
  findServer(named?: string): ServerAddress | undefined
  /** The server that runs here, which has the embedded database open. */
  runningServer(): ServerAddress | undefined
  /** Whether there are registered tools to look for: a server, or a database that the environment names or that is here. */
  hasRegistry(): boolean
  configNames(): readonly string[]
  /** Lets a person change a file in their editor. */
  edit(file: string): Promise<void>
  /** How a client starts this program: by its path, or portably, as a file that is committed must. */
  selfCommand(portable?: boolean): readonly string[]
  /** Whether `tooldex` on PATH is this program. */
  isOnPath(): boolean
  out(text: string): void
  /** Writes a long text to standard output, no faster than it is read there. */
  outAll(chunks: AsyncIterable<string>): Promise<void>
  err(text: string): void
  readonly signal: AbortSignal
  readonly columns: number
  /** Whether a person types, rather than a client. */
  readonly interactive: boolean
}
