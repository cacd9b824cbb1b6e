import { TooldexError } from '../base/errors.ts'
import { existsInHome } from '../base/home-files.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { createLogger, type Logger } from '../base/logger.ts'
import { packageVersion } from '../base/package-info.ts'
import { toolsetHeader } from '../contract/toolset.ts'
import type { ProcessContext } from '../operations/operation.ts'
import { databaseExists, findRunningServer, findServer } from '../operations/registry-client/find-server.ts'
import type { RegistryClient } from '../operations/registry-client/registry-client.ts'
import { SharedRegistry } from '../operations/registry-client/shared-registry.ts'
import { readSetting } from '../rules/settings.ts'
import { MemoryResults } from '../runs/memory-results.ts'
import { userConfigsDir } from '../sources/cli/index.ts'
import type { RunOptions } from '../surfaces/cli/index.ts'
import {
  combineTools,
  isClimaxAlias,
  type ListMode,
  type McpTools,
  modeOf,
  serveStdio,
  toolsOfContext,
} from '../surfaces/mcp/index.ts'
import { composeProcess } from './compose.ts'

// After the client disconnects, running commands are cancelled; their processes get this long to end.
const drainMs = 2000

/** `tooldex run`: serves the tools of configs and of the registry on stdio. */
export async function runStdio(options: RunOptions, stop: AbortSignal): Promise<void> {
  const logger = createLogger({ level: options.logLevel ?? 'WARNING', file: readSetting('TOOLDEX_LOG_FILE') })
  const ending = new AbortController()
  stop.addEventListener('abort', () => ending.abort(), { once: true })
  const registry = attachRegistry(options, logger, ending.signal)
  const context = openConfigs(options, registry)
  if (context === undefined && registry === undefined) throw nothingToServe()
  if (options.watch) context?.catalog.watch(ending.signal)
  const tools = await toTools(options, { context, registry, signal: ending.signal })
  await warnOfPins(options, tools, (name) => logger.warn(`--pin ${name}: tool not found`))
  const [only] = context?.catalog.current().configs ?? []
  const name = registry === undefined && options.configs?.length === 1 ? only?.config.name : undefined
  await serveStdio({ name: name ?? 'tooldex', version: packageVersion(), tools, logger }, stop)
  ending.abort()
  await Promise.all([registry?.client.close(), context?.runner.close(drainMs)])
}

/** Opens the named configs; without any and without a registry, those in TOOLDEX_HOME. */
function openConfigs(options: RunOptions, registry: AttachedRegistry | undefined): ProcessContext | undefined {
  const configs = options.configs ?? []
  const registryExists = registry !== undefined && !registry.isRefused
  const homeConfigs = configs.length === 0 && !registryExists && existsInHome(userConfigsDir())
  if (configs.length === 0 && !homeConfigs) return undefined
  // Large outputs are stored in memory and read by their handles.
  return { ...composeProcess({ ...options, configs, homeConfigs }), results: new MemoryResults() }
}

interface Parts {
  readonly context: ProcessContext | undefined
  readonly registry: AttachedRegistry | undefined
  readonly signal: AbortSignal
}

async function toTools(options: RunOptions, { context, registry, signal }: Parts): Promise<McpTools> {
  const mode = await readMode(options, registry)
  const local = context === undefined ? undefined : toolsOfContext(context, mode, options.watch)
  if (registry === undefined) return local as McpTools
  // Loaded only with a registry, to keep the start of a server for configs fast.
  const { toolsOfClient } = await import('../surfaces/mcp/client-tools.ts')
  const listed = registry.isRefused ? { classic: false, pinned: [] } : mode
  const remote = toolsOfClient(registry.client, {
    mode: listed,
    codeMode: options.codeMode,
    pollMs: registry.pollMs,
    signal,
  })
  if (local === undefined || context === undefined) return remote
  const { combineClients } = await import('../operations/registry-client/combine-clients.ts')
  return combineTools(local, remote, combineClients({ context, registry: remote.client, prefer: 'configs' }))
}

/** The mode of the options, or else that of the toolset; an unknown toolset is an error at the start. */
async function readMode(
  { classic, pinned, toolset: name }: RunOptions,
  registry: AttachedRegistry | undefined,
): Promise<ListMode> {
  if (name === undefined) return { classic, pinned }
  if (registry === undefined) throw nothingToServe()
  const { getToolset } = await import('../operations/registry/toolsets.ts')
  const toolset = await registry.client.invoke(getToolset, { name })
  return classic || pinned.length > 0 ? { classic, pinned } : modeOf(toolset)
}

/** A missing pinned tool is a warning, because it may be registered later. */
async function warnOfPins({ pinned }: RunOptions, tools: McpTools, warn: (name: string) => void): Promise<void> {
  if (pinned.length === 0) return
  const listed = await tools.list().catch(() => undefined)
  for (const name of pinned) {
    const isThere = listed?.some(({ id, tool }) => id === name || tool.name === name || id.endsWith(`:${name}`))
    if (isThere === false && !isClimaxAlias(name)) warn(name)
  }
}

const nothingToServe = (): TooldexError =>
  new TooldexError(
    'USAGE',
    'There are no tools to serve: no config is named, and there is no local server or database.',
    {
      hint: 'Name a config (tooldex run git), or start a server (tooldex serve).',
    },
  )

const loadRemoteClient = lazyModule(() => import('../operations/registry-client/remote-client.ts'))
// Its database, stores and executors are some hundred files.
const loadOwnRegistry = lazyModule(() => import('./open-own-registry.ts'), 128)

/** The registry whose tools are offered together with those of configs. */
interface AttachedRegistry {
  readonly client: RegistryClient
  /** The interval of polling for changed tools; undefined if polling would lock the database. */
  readonly pollMs: number | undefined
  /** Whether every request is rejected because there is no key; its tools are not listed then. */
  readonly isRefused?: boolean
}

const pollMs = 3000
// Long enough for an agent to search, read and call; shorter than other processes wait for the database.
const idleMs = 4000

/** Finds the registry of the named or local server, or else of the local database; undefined if there is none. */
function attachRegistry(options: RunOptions, logger: Logger, ending: AbortSignal): AttachedRegistry | undefined {
  rejectContradictions(options)
  // A policy file applies to local configs; a server has its own policies.
  if (!options.registry || options.policy !== undefined) return undefined
  const server = findServer(options.server)
  if (server !== undefined && (server.named || readSetting('DATABASE_URL') === undefined)) {
    if (!server.named && server.key === undefined) return rejectAll(server.url, logger)
    // A local server may restart at another address.
    const current = {
      get url() {
        return server.named ? server.url : (findRunningServer()?.url ?? server.url)
      },
      key: server.key,
      headers: options.toolset === undefined ? undefined : { [toolsetHeader]: options.toolset },
    }
    const open = async () => (await loadRemoteClient()).openRemoteClient(current, ending)
    return { client: new SharedRegistry({ open }), pollMs }
  }
  return databaseExists() ? openLocalDatabase(options, ending) : undefined
}

function openLocalDatabase({ codeMode, toolset }: RunOptions, ending: AbortSignal): AttachedRegistry {
  const open = async () => (await loadOwnRegistry()).openOwnRegistry(ending, { follow: true, toolset, codeMode })
  // PostgreSQL allows other processes at the same time.
  const isEmbedded = readSetting('DATABASE_URL') === undefined
  const client = new SharedRegistry({ open, idleMs: isEmbedded ? idleMs : undefined })
  return { client, pollMs: isEmbedded ? undefined : pollMs }
}

/** Rejects every request with the reason, because logs are rarely read. */
function rejectAll(url: string, logger: Logger): AttachedRegistry {
  logger.warn(`The tools of the server at ${url} are not offered. Set TOOLDEX_API_KEY to one of its keys.`)
  const refusal = () =>
    new TooldexError('UNAUTHORIZED', `The server at ${url} needs a key.`, {
      hint: 'Set TOOLDEX_API_KEY to one of its keys and restart.',
    })
  const client: RegistryClient = {
    invoke: () => Promise.reject(refusal()),
    call: () => Promise.reject(refusal()),
    // biome-ignore lint/correctness/useYield: it rejects before there is anything to follow
    follow: async function* () {
      throw refusal()
    },
    close: async () => {},
  }
  return { client, pollMs: undefined, isRefused: true }
}

function rejectContradictions({ server, registry, policy, toolset, configs }: RunOptions): void {
  const other = [!registry && '--no-registry', policy !== undefined && '--policy', configs?.length && 'configs']
  const found = other.find(Boolean)
  if (toolset !== undefined && found)
    throw new TooldexError('USAGE', `--toolset cannot be combined with ${found}.`, {
      hint: 'A toolset selects tools of a server or of the local database; omit the other.',
    })
  if (server === undefined) return
  if (!registry)
    throw new TooldexError('USAGE', '--server and --no-registry contradict each other.', {
      hint: 'Omit one of them.',
    })
  if (policy !== undefined)
    throw new TooldexError('USAGE', '--server cannot be combined with --policy: a server has its own policies.', {
      hint: 'Omit --server or --policy.',
    })
}
