import type { ZodType } from 'zod'
import { lazyModule } from '../base/lazy-module.ts'
import type { Logger } from '../base/logger.ts'
import type { Executor } from '../contract/executor.ts'
import type { McpExecutor, McpExecutorOptions } from '../executors/index.ts'
import type { LiveCatalog } from '../operations/catalog/live-catalog.ts'
import { SearchMemories } from '../operations/learning/search-memory.ts'
import type { Operation, ProcessContext } from '../operations/operation.ts'
import type { Registry } from '../operations/registry/registry.ts'
import {
  type CallControls,
  createLocalClient,
  type RecordedCall,
  type RegistryClient,
} from '../operations/registry-client/registry-client.ts'
import { processEnv, readSetting } from '../rules/settings.ts'
import type { RecordedRuns } from '../runs/recorded-runs.ts'
import { createStores, type Database } from '../storage/index.ts'
import { composeProcess, type MoreParts } from './compose.ts'
import { openMigratedDatabase } from './open-database.ts'
import { openExecutors } from './open-executors.ts'

const loadRegistryFeed = lazyModule(() => import('../operations/catalog/registry-feed.ts'))
const loadOpenRuns = lazyModule(() => import('../runs/open-runs.ts'))

/** Options of a registry in the database of this process. */
interface OwnRegistryOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Whether changes of other processes are followed; short commands do not need it. */
  readonly follow?: boolean
  /** The toolset that all requests are restricted to. */
  readonly toolset?: string | undefined
  /** Whether programs may run. */
  readonly codeMode?: boolean | undefined
  /** The tools that a program adds, and its configs instead of those in TOOLDEX_HOME. */
  readonly program?: ProgramParts | undefined
}

interface OwnRegistryParts extends OwnRegistryOptions {
  readonly env: NodeJS.ProcessEnv
  readonly follow: boolean
  readonly signal: AbortSignal
}

/** The tools of a program. */
export interface ProgramParts extends Pick<MoreParts, 'loaded' | 'ownPolicy' | 'logger'> {
  readonly configs: readonly string[]
  readonly servers: McpExecutorOptions['servers']
  /** The executor of its functions. */
  readonly code: Executor
  /** The label of queued calls that only this program takes. */
  readonly label: string
  /** Adds the tools of functions and servers. */
  readonly show: (catalog: LiveCatalog, upstreams: McpExecutor['upstreams']) => Promise<void>
}

/** Opens the registry in the database that the environment names. */
export async function openOwnRegistry(
  signal: AbortSignal,
  { env = processEnv, follow = false, toolset, codeMode, program }: OwnRegistryOptions = {},
): Promise<RegistryClient> {
  const database = await openMigratedDatabase(env)
  try {
    const registry = new OwnRegistry(database, { signal, env, follow, toolset, codeMode, program })
    if (program !== undefined) await registry.ready()
    return registry
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}

/** The registry in a database that this process has open; parts are opened on first use. */
class OwnRegistry implements RegistryClient {
  readonly #database: Database
  readonly #signal: AbortSignal
  readonly #registry: Registry
  readonly #more: MoreParts
  readonly #upstreams: NonNullable<ProcessContext['upstreams']>
  readonly #sources: ProcessContext['sources']
  readonly #keepSources: (logger: Logger) => void
  readonly #ending = new AbortController()
  readonly #follow: boolean
  readonly #toolset: string | undefined
  readonly #codeMode: boolean | undefined
  readonly #program: ProgramParts | undefined
  readonly #servers: McpExecutor['upstreams']
  #offering: Promise<ProcessContext> | undefined
  #running: Promise<RecordedRuns> | undefined

  constructor(database: Database, { signal, env, follow, toolset, codeMode, program }: OwnRegistryParts) {
    this.#database = database
    this.#signal = signal
    this.#follow = follow
    this.#toolset = toolset
    this.#codeMode = codeMode
    const stores = createStores(database)
    this.#program = program
    const { more, box, check, mcp, upstreams, sources, keepSources } = openExecutors(
      stores,
      env,
      program && { servers: program.servers },
    )
    const { code, loaded, ownPolicy, logger } = program ?? {}
    const own = { ...(loaded && { loaded }), ...(ownPolicy && { ownPolicy }), ...(logger && { logger }) }
    this.#more = program === undefined ? more : { ...more, ...own, executors: { ...more.executors, code } as never }
    this.#servers = mcp.upstreams
    this.#upstreams = upstreams
    this.#sources = sources
    this.#keepSources = keepSources
    this.#registry = { stores, box, check }
  }

  /** Opens the catalog before it is needed. */
  async ready(): Promise<void> {
    await this.#offered()
  }

  invoke: RegistryClient['invoke'] = async (operation, input, controls) =>
    createLocalClient(await this.#contextFor(operation)).invoke(operation, input, controls)

  async call(call: RecordedCall, controls: CallControls) {
    return createLocalClient(await this.#withRuns(await this.#offered())).call(call, controls)
  }

  async *follow(id: string) {
    yield* createLocalClient(await this.#withRuns(this.#plain())).follow(id)
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await (await this.#running)?.close(0)
    await Promise.allSettled(Object.values(this.#more.executors ?? {}).map((each) => each?.close?.()))
    await this.#database.close()
  }

  async #contextFor({
    http,
    needs = [],
  }: Pick<Operation<ZodType, ZodType>, 'http' | 'needs'>): Promise<ProcessContext> {
    const runs = needs.some((need) => need === 'runs' || need === 'runs?')
    const context = catalogTags.has(http?.tag ?? '') || runs ? await this.#offered() : this.#plain()
    return runs ? this.#withRuns(context) : context
  }

  #plain(): ProcessContext {
    return this.#serve(composeProcess({ configs: [] }, this.#more))
  }

  #serve(composed: ReturnType<typeof composeProcess>): ProcessContext {
    const context = withMemory(composed, this.#registry)
    const caller = this.#toolset === undefined ? context.caller : { ...context.caller, toolsets: [this.#toolset] }
    return {
      ...context,
      caller,
      registry: this.#registry,
      upstreams: this.#upstreams,
      sources: this.#sources,
      signal: this.#signal,
    }
  }

  #offered(): Promise<ProcessContext> {
    this.#offering ??= this.#openOffered()
    this.#offering.catch(() => {
      // The next use tries again.
      this.#offering = undefined
    })
    return this.#offering
  }

  /** The tools that a server on this database would offer: registered tools, and the configs in TOOLDEX_HOME. */
  async #openOffered(): Promise<ProcessContext> {
    const { configs = [] } = this.#program ?? {}
    const homeConfigs = this.#program === undefined
    const context = this.#serve(composeProcess({ configs, homeConfigs, codeMode: this.#codeMode }, this.#more))
    const { catalog, logger, caller } = context
    this.#keepSources(logger)
    const { RegistryFeed } = await loadRegistryFeed()
    const feed = new RegistryFeed({ stores: this.#registry.stores, catalog, workspace: caller.workspace, logger })
    await (this.#follow ? feed.follow(this.#ending.signal) : feed.sync())
    await this.#program?.show(catalog, this.#servers)
    return context
  }

  async #withRuns(context: ProcessContext): Promise<ProcessContext> {
    const { runner, logger, tracing } = context
    const store = this.#registry.stores.executions
    const label = this.#program?.label
    const role = label === undefined ? { takesWork: false } : { takesWork: true, takesOwnOnly: true, labels: [label] }
    this.#running ??= loadOpenRuns().then(({ openRuns }) =>
      openRuns({ runner, logger, tracing, store, kind: 'command', runsTools: true, ...role }),
    )
    this.#running.catch(() => {
      // The next use tries again.
      this.#running = undefined
    })
    return { ...context, runs: await this.#running }
  }
}

/** Tags of operations that work on all offered tools, including those of configs. */
const catalogTags = new Set(['search', 'llm', 'catalog', 'toolsets', 'sources'])

/** Stores learned queries in the database. */
function withMemory(context: ReturnType<typeof composeProcess>, { stores }: Registry): ProcessContext {
  const store = readSetting('TOOLDEX_LEARNING') ? stores.learning : undefined
  const memories = new SearchMemories({ store, loadEmbedder: context.loadEmbedder })
  return { ...context, memory: memories.of(context.caller.workspace) }
}
