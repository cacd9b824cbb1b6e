import { TooldexError, toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import { formatProblem, type Problem } from '../base/problem.ts'
import { watchFiles } from '../base/watch-files.ts'
import { toClientName } from '../contract/client-name.ts'
import type { Policy } from '../contract/policy.ts'
import type { SearchableTool } from '../contract/search.ts'
import type { LoadedConfig, Source } from '../contract/source.ts'
import { formatToolId } from '../contract/tool-id.ts'
import type { ToolIndexEntry } from '../contract/tool-index.ts'
import { findUnknownNames, loadPolicy } from '../policy/index.ts'
import { type Embedder, type RemoteEmbedder, SearchEngine, ToolIndex } from '../search/index.ts'

/** All tools at one moment: built whole, swapped whole. */
export interface CatalogueSnapshot {
  readonly index: ToolIndex
  readonly entries: readonly ToolIndexEntry[]
  /** Every accepted spelling of a tool: its name, its id, its name in clients. */
  readonly names: ReadonlyMap<string, ToolIndexEntry>
  readonly policy: Policy | undefined
  readonly configs: readonly LoadedConfig[]
  /** Grows with every reload that took effect. */
  readonly version: number
}

/** What the catalogue is made from. */
export interface LiveCatalogueOptions {
  readonly source: Source
  readonly policyFile?: string | undefined
  readonly logger: Logger
  /** For search by meaning; loaded with the first search. */
  readonly loadEmbedder?: (() => Embedder | undefined) | undefined
  /** A service that gives the vectors instead. */
  readonly remote?: RemoteEmbedder | undefined
}

/** The tools that can be found and called now. */
export class LiveCatalogue {
  readonly #options: LiveCatalogueOptions
  readonly #listeners = new Set<() => void>()
  readonly #engine: SearchEngine
  /** What the engine knows, as text, so that a reload touches only what changed. */
  readonly #indexed = new Map<string, string>()
  #unprepared = false
  #snapshot: CatalogueSnapshot

  constructor(options: LiveCatalogueOptions) {
    this.#options = options
    const { remote } = options
    this.#engine = new SearchEngine(
      remote === undefined ? options.loadEmbedder : () => (remote.dim === 0 ? undefined : remote),
    )
    const { configs, failures } = options.source.load()
    if (failures.length > 0 && configs.length === 0) throw allFailed(failures.map(({ error }) => error))
    for (const reason of failures.flatMap(({ error }) => reasonsOf(error))) options.logger.error(`left out: ${reason}`)
    this.#snapshot = build(options, configs, 1)
  }

  current(): CatalogueSnapshot {
    return this.#snapshot
  }

  /** The search engine, holding exactly the tools of the current snapshot. */
  engine(): SearchEngine {
    const gone = new Set(this.#indexed.keys())
    for (const entry of this.#snapshot.entries) {
      const tool = this.#searchable(entry)
      const text = JSON.stringify(tool)
      gone.delete(tool.id)
      if (this.#indexed.get(tool.id) === text) continue
      this.#engine.add(tool)
      this.#indexed.set(tool.id, text)
    }
    for (const id of gone) {
      this.#engine.remove(id)
      this.#indexed.delete(id)
    }
    return this.#engine
  }

  /** Makes sure that a query can be ranked by meaning; where a service does not answer it is ranked by words alone. */
  async prepareMeaning(query: string, signal?: AbortSignal): Promise<boolean> {
    const { remote } = this.#options
    if (remote === undefined) return true
    const ready = await remote.prepare(
      query,
      this.#snapshot.entries.map((entry) => this.#searchable(entry)),
      signal,
    )
    // Tools that came while the service was away have no vector yet.
    if (ready && this.#unprepared) this.#engine.forgetMeaning()
    this.#unprepared = !ready
    return ready
  }

  #searchable(entry: ToolIndexEntry): SearchableTool {
    const { toolName: name, cliName: namespace, description, category, tags, inputSchema } = entry
    const exampleRequests = this.#snapshot.index.get(name)?.tool.exampleRequests
    return { id: toolIdOf(entry), name, namespace, description, category, tags, inputSchema, exampleRequests }
  }

  /** Calls back after each reload that took effect. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Reloads whenever a config or the policy changes; a broken edit is reported and the tools stay as they were. */
  watch(signal: AbortSignal): void {
    const reload = () => this.reload()
    this.#options.source.watch(reload, signal)
    if (this.#options.policyFile !== undefined) watchFiles([this.#options.policyFile], reload, signal)
  }

  /** Builds the catalogue anew and, if that worked, puts it in the old one's place. */
  reload(): boolean {
    const { logger } = this.#options
    try {
      const loaded = this.#options.source.load()
      // What was left out before may stay so; what is in use is not given up for a broken edit.
      const used = new Set(this.#snapshot.configs.map((config) => config.name))
      const broken = loaded.failures.find(({ name }) => used.has(name))
      if (broken !== undefined) throw broken.error
      this.#snapshot = build(this.#options, loaded.configs, this.#snapshot.version + 1)
    } catch (thrown) {
      for (const reason of reasonsOf(toTooldexError(thrown)))
        logger.error(`reload refused, the old tools stay: ${reason}`)
      return false
    }
    logger.info('reloaded', { tools: this.#snapshot.index.size, version: this.#snapshot.version })
    for (const listener of this.#listeners) listener()
    return true
  }
}

function allFailed(failures: readonly TooldexError[]): TooldexError {
  const [only] = failures
  if (only !== undefined && failures.length === 1) return only
  const message = `None of the ${failures.length} configs could be loaded.`
  const problems = failures.flatMap((failure): readonly Problem[] =>
    failure.problems.length > 0 ? failure.problems : [{ severity: 'error', message: failure.message }],
  )
  return new TooldexError('CONFIG_INVALID', message, { problems })
}

const reasonsOf = (error: TooldexError): readonly string[] =>
  error.problems.length > 0 ? error.problems.map(formatProblem) : [error.message]

function build(
  { policyFile, logger }: LiveCatalogueOptions,
  configs: readonly LoadedConfig[],
  version: number,
): CatalogueSnapshot {
  const policy = policyFile === undefined ? undefined : loadPolicy(policyFile)
  const parsed = configs.map((loaded) => loaded.config)
  for (const warning of [...configs.flatMap((loaded) => loaded.warnings), ...(policy?.warnings ?? [])]) {
    logger.warn(formatProblem(warning))
  }
  if (policy !== undefined) for (const unknown of findUnknownNames(policy.value, parsed)) logger.warn(unknown)
  const index = ToolIndex.fromConfigs(parsed, {
    policy: policy?.value,
    checked: true,
    onDuplicate: (tool, cli) => logger.warn(`tool '${tool}' is defined more than once; the one in '${cli}' is used`),
  })
  const entries = index.search({ limit: Number.POSITIVE_INFINITY })
  return { index, entries, names: spellings(entries), policy: policy?.value, configs, version }
}

function spellings(entries: readonly ToolIndexEntry[]): ReadonlyMap<string, ToolIndexEntry> {
  const names = new Map<string, ToolIndexEntry>()
  for (const entry of entries) names.set(toClientName(entry.toolName), entry).set(toolIdOf(entry), entry)
  // Real names last, so that no short name or id of another tool can hide one.
  for (const entry of entries) names.set(entry.toolName, entry)
  return names
}

/** The id of a tool that comes from a config. */
export const toolIdOf = (entry: ToolIndexEntry): string =>
  formatToolId({ namespace: entry.cliName, name: entry.toolName })
