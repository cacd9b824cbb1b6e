import { randomUUID } from 'node:crypto'
import { toTooldexError } from '../base/errors.ts'
import { createLogger, type Logger } from '../base/logger.ts'
import { CliConfig, type CliConfigInput } from '../contract/cli-config.ts'
import type { FunctionTool } from '../contract/executor.ts'
import type { McpServerInput } from '../contract/mcp-server.ts'
import type { Policy } from '../contract/policy.ts'
import type { McpExecutor } from '../executors/index.ts'
import type { LiveCatalog } from '../operations/catalog/live-catalog.ts'
import type { RegistryClient } from '../operations/registry-client/registry-client.ts'
import { processEnv } from '../rules/settings.ts'
import type { AgentTools, SdkBindings } from '../surfaces/library/bindings.ts'
import type { ProgramMethods } from '../surfaces/library/program-methods.ts'
import type { ProgramParts } from './open-own-registry.ts'

/** The sources of a catalog inside a program. */
export interface TooldexOptions {
  /** Configs: bundled names, paths, or loaded ones (`loadConfig`). */
  readonly configs?: readonly (string | CliConfigInput)[] | undefined
  /** MCP servers, as clients write them under `mcpServers`. */
  readonly servers?: Readonly<Record<string, McpServerInput>> | undefined
  /** Functions of the program (`defineTool`). */
  readonly functions?: readonly FunctionTool[] | undefined
  /** The database of registered tools and recorded calls: the URL of a PostgreSQL, or the folder of an embedded one. */
  readonly database?: { readonly url: string } | { readonly home: string } | undefined
  /** The tools that may be called, and the bounds on their arguments: a file, or the policy itself. */
  readonly policy?: string | Policy | undefined
  /** Whether programs may run (`tooldex:run_code`); off if absent. */
  readonly codeMode?: boolean | undefined
  /** Receives a line for each warning, such as a server that does not answer. */
  readonly log?: ((line: string) => void) | undefined
}

/** A whole catalog inside a program. */
export interface Tooldex extends ProgramMethods, SdkBindings {
  /** Adds functions as tools; returns their ids. */
  register(...functions: readonly FunctionTool[]): Promise<readonly string[]>
  /** Removes the tool of a function. */
  unregister(id: string): Promise<void>
  /** Lists the tools of all MCP servers again. */
  refresh(): Promise<void>
  /** Cancels running calls, stops MCP servers and closes the database. */
  close(): Promise<void>
}

const drainMs = 2000

/** Creates a catalog of configs, MCP servers, functions and, with a database, registered tools. */
export async function createTooldex(options: TooldexOptions = {}): Promise<Tooldex> {
  // Programs that use other parts of the library do not load these.
  const [{ checkOptions }, { openProgram }, { toProgramMethods }, { createBindings }, { ProgramFunctions }] =
    await Promise.all([
      import('./open-program.ts'),
      import('./open-program.ts'),
      import('../surfaces/library/program-methods.ts'),
      import('../surfaces/library/bindings.ts'),
      import('../operations/catalog/program-tools.ts'),
    ])
  checkOptions(options)
  const closing = new AbortController()
  const logger = createLogger({ level: 'WARNING', stderr: (line) => options.log?.(line.trimEnd()) })
  const label = `program-${randomUUID()}`
  const servers = new ServerTools(logger, closing.signal)
  const functions = new ProgramFunctions(label)
  await functions.add(options.functions ?? [])
  const show: ProgramParts['show'] = async (catalog, upstreams) => {
    await functions.showIn(catalog)
    await servers.showIn(catalog, upstreams)
  }
  const parts = { ...(await readSources(options)), functions: functions.all, label, logger, show }
  const client = await openProgram(parts, {
    env: environmentOf(options),
    codeMode: options.codeMode,
    signal: closing.signal,
    drainMs,
  })
  return {
    ...toProgramMethods(client, closing.signal),
    ...createBindings(await agentTools(client)),
    register: (...added) => functions.add(added),
    unregister: (id) => functions.remove(id),
    refresh: () => servers.refresh(),
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      await client.close()
    },
  }
}

/** The three tools with the texts and answers of MCP. */
async function agentTools(client: RegistryClient): Promise<AgentTools> {
  const [{ isMetaTool, metaToolInput, metaTools }, { handleMetaTool }] = await Promise.all([
    import('../surfaces/mcp/meta-tools.ts'),
    import('../surfaces/mcp/handle-call.ts'),
  ])
  return {
    tools: metaTools().map((tool) => ({ ...tool, input: metaToolInput(tool.name) })),
    async run(name, args, signal) {
      if (!isMetaTool(name))
        return { text: `Unknown tool: ${name.slice(0, 200)}. Call call_tool with its name.`, isError: true }
      const { content = [], isError = false } = await handleMetaTool(name, args, { client, signal })
      const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
      return { text: texts.join('\n'), isError }
    },
  }
}

/** The environment of the database; undefined without one. */
function environmentOf({ database }: TooldexOptions): NodeJS.ProcessEnv | undefined {
  if (database === undefined) return undefined
  return 'url' in database
    ? { ...processEnv, DATABASE_URL: database.url }
    : { ...processEnv, TOOLDEX_HOME: database.home, DATABASE_URL: undefined }
}

async function readSources({ configs = [], servers = {}, policy }: TooldexOptions) {
  const [{ readServers }, { loadPolicy, parsePolicy }] = await Promise.all([
    import('../executors/index.ts'),
    import('../policy/index.ts'),
  ])
  const isName = (config: string | CliConfigInput) => typeof config === 'string'
  return {
    configs: configs.filter(isName),
    loaded: configs.filter((config) => !isName(config)).map((config) => CliConfig.parse(config)),
    servers: readServers(servers, processEnv),
    ownPolicy:
      policy === undefined
        ? undefined
        : (typeof policy === 'string' ? loadPolicy(policy) : parsePolicy(JSON.stringify(policy), 'policy')).value,
  }
}

/** The tools of MCP servers in a catalog; a server that does not answer is reported, and has the tools that it had. */
class ServerTools {
  readonly #logger: Logger
  readonly #signal: AbortSignal
  #shown: { readonly catalog: LiveCatalog; readonly upstreams: McpExecutor['upstreams'] } | undefined

  constructor(logger: Logger, signal: AbortSignal) {
    this.#logger = logger
    this.#signal = signal
  }

  async showIn(catalog: LiveCatalog, upstreams: McpExecutor['upstreams']): Promise<void> {
    this.#shown = { catalog, upstreams }
    await this.refresh()
  }

  async refresh(): Promise<void> {
    const { catalog, upstreams } = this.#shown ?? {}
    if (catalog === undefined || upstreams === undefined) return
    const { showUpstream } = await import('../operations/catalog/program-tools.ts')
    await Promise.all(
      Array.from(upstreams.servers.keys(), async (name) => {
        try {
          const definitions = (await upstreams.of(name)?.listTools(this.#signal)) ?? []
          for (const warning of await showUpstream(catalog, name, definitions)) this.#logger.warn(warning)
        } catch (thrown) {
          this.#logger.warn(`The MCP server '${name}' does not list its tools: ${toTooldexError(thrown).message}`)
        }
      }),
    )
  }
}
