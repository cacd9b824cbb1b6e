import { toTooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Logger } from '../../base/logger.ts'
import { watchFiles } from '../../base/watch-files.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { BundlePolicy } from '../../contract/bundle.ts'
import { type CatalogTool, type Readiness, ready, secretsPage } from '../../contract/catalog.ts'
import type { LoadedConfig, LoadFailure, LoadResult, Source } from '../../contract/cli-config.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { Limit, Policy } from '../../contract/policy.ts'
import type { Isolation } from '../../contract/run.ts'
import type { SearchMode } from '../../contract/search.ts'
import type { SourceManifest } from '../../contract/source.ts'
import type { ResolvedToolset } from '../../contract/toolset.ts'
import { processEnv } from '../../rules/settings.ts'
import type { Embedder, RemoteEmbedder, SearchEngine } from '../../search/index.ts'
import { needsApproval } from '../search/tool-view.ts'
import { allConfigsFailed, buildConfigSnapshot, type ConfigSnapshot, reasonsOf } from './loaded-configs.ts'
import type { replaceConfigs } from './open-catalog.ts'

const loadCatalog = lazyModule(() => import('./open-catalog.ts'))
const loadSearch = lazyModule(() => import('../../search/search-engine.ts'))

/** The sources of vectors. */
export interface EmbedderOptions {
  /** The encoder for semantic search, loaded with the first search. */
  readonly loadEmbedder?: (() => Embedder | undefined) | undefined
  /** An embeddings service that replaces the encoder. */
  readonly remote?: RemoteEmbedder | undefined
}

/** The sources and dependencies of the catalog. */
export interface LiveCatalogOptions extends EmbedderOptions {
  readonly source: Source
  readonly policyFile?: string | undefined
  /** The policy that takes the place of a file. */
  readonly policy?: Policy | undefined
  /** The policy file of the process, for a catalog that does not load it itself. */
  readonly filePolicy?: (() => Policy | undefined) | undefined
  readonly logger: Logger
  /** Whether a tool can run now; without it, all can. */
  readonly readinessOf?: ((tool: RunnableTool) => Readiness | undefined) | undefined
  /** The references to secrets that calls of a tool resolve. */
  readonly secretsOf?: ((tool: RunnableTool) => readonly string[] | undefined) | undefined
  /** The isolation level of a call of the tool; undefined where callers need no such information. */
  readonly isolationOf?: ((tool: RunnableTool) => Isolation | undefined) | undefined
}

/** A tool of the catalog, as far as its state is concerned. */
interface StatedTool {
  readonly tool?: Pick<CatalogTool, 'annotations'> | undefined
  readonly runnable?: RunnableTool | undefined
}

/** The tools that can be found and called now: those of configs, and those that other sources add. */
export class LiveCatalog {
  readonly #options: LiveCatalogOptions
  readonly #listeners = new Set<() => void>()
  /** The tools of every source, and the function that replaces those of configs; created on first use. */
  #opened: { readonly tools: Catalog; readonly replaceConfigs: typeof replaceConfigs } | undefined
  #engine: SearchEngine | undefined
  /** Whether tools were added while the embeddings service was unavailable. */
  #lacksVectors = false
  #failures: readonly LoadFailure[]
  #snapshot: ConfigSnapshot
  /** The stored policies as of the last change of the registry; undefined if no registry is followed. */
  policies: readonly BundlePolicy[] | undefined
  /** The stored toolsets as of the last change of the registry, likewise. */
  toolsets: readonly ResolvedToolset[] | undefined
  /** The names of the stored secrets, likewise. */
  secrets: ReadonlySet<string> | undefined
  /** The stored limits as of the last change of the registry, likewise. */
  limits: readonly Limit[] | undefined
  /** The accepted definitions of the sources whose prompts and resources are offered, by name. */
  readonly manifests = new Map<string, SourceManifest>()
  /** The sources that need a sign-in before a call: one of each caller, or a shared one that has ended. */
  signIns: ReadonlyMap<string, 'caller' | 'shared'> = new Map()
  /** Applies the present state of the registry; undefined if no registry is followed. */
  syncRegistry: (() => Promise<void>) | undefined
  /** Whether the program adds tools itself, which are not loaded under the policy file. */
  hasProgramTools = false

  constructor(options: LiveCatalogOptions) {
    this.#options = options
    const { configs, failures } = options.source.load()
    const named = failures.filter(({ found }) => found !== true)
    // An invalid file in a folder does not prevent the start: it was not named explicitly and can be fixed while the
    // others are served.
    if (named.length > 0 && configs.length === 0) throw allConfigsFailed(named.map(({ error }) => error))
    this.#failures = failures
    for (const reason of failures.flatMap(({ error }) => reasonsOf(error))) options.logger.error(`left out: ${reason}`)
    this.#snapshot = buildConfigSnapshot(options, configs, 1)
  }

  /** The present state of the configs. */
  current(): ConfigSnapshot {
    return this.#snapshot
  }

  /** The policy file of the process; it binds the tools of every workspace. */
  filePolicy(): Policy | undefined {
    return this.#options.filePolicy === undefined ? this.#snapshot.policy : this.#options.filePolicy()
  }

  /** Whether a tool could be run now, and what it needs otherwise. */
  readinessOf({ tool, runnable }: StatedTool): Readiness {
    const readiness = runnable === undefined ? ready : this.#runReadinessOf(runnable)
    return readiness.state === 'ready' && tool?.annotations?.requiresApproval === true ? needsApproval : readiness
  }

  /** Whether the host could run a tool now, without its credentials. */
  hostReadinessOf(runnable: RunnableTool): Readiness {
    return this.#options.readinessOf?.(runnable) ?? ready
  }

  /** The references to secrets that calls of a tool resolve. */
  secretsOf(runnable: RunnableTool): readonly string[] {
    return this.#options.secretsOf?.(runnable) ?? []
  }

  #runReadinessOf(runnable: RunnableTool): Readiness {
    const readiness = this.hostReadinessOf(runnable)
    if (readiness.state !== 'ready') return readiness
    const missing = this.secretsOf(runnable).find((reference) => isMissingReference(reference, this.secrets))
    return missing === undefined ? ready : readinessWithoutReference(missing)
  }

  /** The isolation level of a call of a tool; undefined where callers need no such information. */
  isolationOf({ runnable }: StatedTool): Isolation | undefined {
    return runnable && this.#options.isolationOf?.(runnable)
  }

  /** The failures of the last load; a config that was loaded before keeps its previous tools. */
  failures(): readonly LoadFailure[] {
    return this.#failures
  }

  /** The tools of every source; loaded on first use, because a server starts without it. */
  async open(): Promise<Catalog> {
    const { openCatalog, replaceConfigs } = await loadCatalog()
    const reportError = (error: unknown) => this.#options.logger.error(`a listener failed: ${String(error)}`)
    this.#opened ??= { tools: openCatalog(this, reportError), replaceConfigs }
    return this.#opened.tools
  }

  /** The same with its search engine, which is loaded with the first search. */
  async openSearch(): Promise<Catalog> {
    const tools = await this.open()
    const { SearchEngine } = await loadSearch()
    const { loadEmbedder, remote } = this.#options
    // A worn engine is replaced by one to which all tools are added in turns; otherwise it would rebuild itself at once.
    if (this.#engine === undefined || this.#engine.wear > 0.5) {
      const embedder = remote === undefined ? loadEmbedder : () => (remote.dim === 0 ? undefined : remote)
      this.#engine = new SearchEngine(embedder, loadEmbedder)
      tools.rankWith(this.#engine)
    }
    return tools
  }

  /** The same with all changes in its index, and with a mode all that its searches need, read in turns with other requests. */
  async indexInTurns(mode?: SearchMode, signal?: AbortSignal): Promise<Catalog> {
    const tools = await this.openSearch()
    await tools.rankInTurns(signal)
    const turn = yieldTurns(signal)
    for (let steps = 2 * tools.size; mode !== undefined && steps > 0 && this.#engine?.read(mode); steps--) await turn()
    return tools
  }

  /** The search engine, with exactly the tools of the catalog. */
  async engine(): Promise<SearchEngine> {
    const tools = await this.open()
    if (this.#engine === undefined) await this.openSearch()
    tools.rankChanges()
    return this.#engine as SearchEngine
  }

  /** Prepares semantic ranking of a query; if a service does not respond, the query is ranked by words only. */
  async prepareMeaning(query: string, signal?: AbortSignal): Promise<boolean> {
    const { remote } = this.#options
    if (remote === undefined) return true
    const { searchableTools } = await loadCatalog()
    const isReady = await remote.prepare(query, searchableTools(await this.open()), signal)
    if (isReady && this.#lacksVectors) this.#engine?.forgetMeaning()
    this.#lacksVectors = !isReady
    return isReady
  }

  /** Adds a listener for every change of tools that took effect, of configs or of the registry; returns its removal. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Notifies listeners of a change outside the configs. */
  announce(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Reloads on every change of a config or the policy; an invalid edit is reported and the previous tools stay active. */
  watch(signal: AbortSignal): void {
    const reload = () => this.reload()
    this.#options.source.watch(reload, signal)
    if (this.#options.policyFile !== undefined) watchFiles([this.#options.policyFile], reload, signal)
  }

  /** Builds a new snapshot and replaces the current one if that succeeds. */
  reload(): boolean {
    const { logger } = this.#options
    try {
      const configs = this.#withBroken(this.#options.source.load())
      this.#swap(buildConfigSnapshot(this.#options, configs, this.#snapshot.version + 1))
    } catch (thrown) {
      for (const reason of reasonsOf(toTooldexError(thrown)))
        logger.error(`reload rejected, the previous tools stay active: ${reason}`)
      return false
    }
    logger.info('reloaded', { tools: this.#snapshot.index.size, version: this.#snapshot.version })
    this.announce()
    return true
  }

  /**
   * The configs to use after a reload. An invalid edit does not remove tools in use: for a named config it rejects the
   * reload; for one found in a folder, its previous tools stay, so that the other files can still change.
   */
  #withBroken({ configs, failures }: LoadResult): readonly LoadedConfig[] {
    const reported = new Set(this.#failures.map(textOf))
    this.#failures = failures
    const used = new Map(this.#snapshot.configs.map((config) => [config.name, config]))
    const refused = failures.find(({ name, found }) => used.has(name) && found !== true)
    if (refused !== undefined) throw refused.error
    for (const failure of failures.filter((each) => !reported.has(textOf(each)))) {
      const effect = used.has(failure.name) ? 'its previous tools stay active' : 'left out'
      for (const reason of reasonsOf(failure.error)) this.#options.logger.error(`${effect}: ${reason}`)
    }
    return [...configs, ...failures.flatMap(({ name }) => used.get(name) ?? [])]
  }

  /** Listeners of a change see the new snapshot; if the catalog rejects it, the previous one stays. */
  #swap(next: ConfigSnapshot): void {
    const before = this.#snapshot
    this.#snapshot = next
    try {
      this.#opened?.replaceConfigs(this.#opened.tools, next.index)
    } catch (error) {
      this.#snapshot = before
      throw error
    }
  }
}

const textOf = ({ name, error }: LoadFailure): string => [name, ...reasonsOf(error)].join('\n')

const parse = (reference: string) => /^(?:(env|file|secret):)?(.*)$/s.exec(reference) ?? []

/** Whether a reference certainly resolves to nothing; files and, without a registry, stored secrets are checked by the call. */
export function isMissingReference(reference: string, stored: ReadonlySet<string> | undefined): boolean {
  const [, kind = 'secret', name = ''] = parse(reference)
  if (kind === 'env') return !processEnv[name]
  return kind === 'secret' && stored !== undefined && !stored.has(name)
}

/** The readiness of a tool without a credential. */
export function readinessWithoutReference(reference: string): Readiness {
  const [, kind = 'secret', name = ''] = parse(reference)
  if (kind === 'env') return { state: 'needs-credentials', reason: `The variable ${name} of the server is not set.` }
  const reason = `There is no secret '${name}'; store it with: tooldex secrets set ${name}`
  return { state: 'needs-credentials', reason, url: secretsPage }
}
