import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Logger } from '../../base/logger.ts'
import { formatProblem, type Problem } from '../../base/problem.ts'
import { watchFiles } from '../../base/watch-files.ts'
import type { BundlePolicy } from '../../contract/bundle.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { LoadedConfig, LoadFailure, LoadResult, Source } from '../../contract/cli-config.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Isolation } from '../../contract/run.ts'
import type { ToolIndexEntry } from '../../contract/tool-index.ts'
import type { Readiness } from '../../contract/tool-state.ts'
import { findUnknownNames } from '../../policy/find-unknown-names.ts'
import { loadPolicy } from '../../policy/load-policy.ts'
import { toClientName } from '../../rules/client-name.ts'
import { formatToolId } from '../../rules/tool-id.ts'
import { ToolIndex } from '../../search/tool-index.ts'
import type { LiveIndexOptions } from './live-index.ts'
import type { OpenCatalog } from './open-catalog.ts'

const loadOpenCatalog = lazyModule(() => import('./open-catalog.ts'))

/** The tools of all configs at one moment, ready to run: built whole, swapped whole. */
export interface CatalogSnapshot {
  readonly index: ToolIndex
  readonly entries: readonly ToolIndexEntry[]
  /** Every accepted spelling of a tool: its name, its id, its name in clients. */
  readonly names: ReadonlyMap<string, ToolIndexEntry>
  readonly policy: Policy | undefined
  readonly configs: readonly LoadedConfig[]
  /** Incremented by every reload that took effect. */
  readonly version: number
}

/** The sources and dependencies of the catalog. */
export interface LiveCatalogOptions extends LiveIndexOptions {
  readonly source: Source
  readonly policyFile?: string | undefined
  /** The policy file of the process, for a catalog that does not load it itself. */
  readonly filePolicy?: (() => Policy | undefined) | undefined
  readonly logger: Logger
  /** Whether a tool can run now; without it, all can. */
  readonly readinessOf?: ((tool: RunnableTool) => Readiness | undefined) | undefined
  /** The isolation level of a call of the tool; undefined where callers need no such information. */
  readonly isolationOf?: ((tool: RunnableTool) => Isolation | undefined) | undefined
}

/** The tools that can be found and called now. */
export class LiveCatalog {
  readonly #options: LiveCatalogOptions
  readonly #listeners = new Set<() => void>()
  #opened: OpenCatalog | undefined
  #failures: readonly LoadFailure[]
  #snapshot: CatalogSnapshot
  /** The stored policies as of the last change of the registry; undefined if no registry is followed. */
  policies: readonly BundlePolicy[] | undefined

  constructor(options: LiveCatalogOptions) {
    this.#options = options
    const { configs, failures } = options.source.load()
    const named = failures.filter(({ found }) => found !== true)
    // An invalid file in a folder does not prevent the start: it was not named explicitly and can be fixed while the
    // others are served.
    if (named.length > 0 && configs.length === 0) throw allFailed(named.map(({ error }) => error))
    this.#failures = failures
    for (const reason of failures.flatMap(({ error }) => reasonsOf(error))) options.logger.error(`left out: ${reason}`)
    this.#snapshot = build(options, configs, 1)
  }

  current(): CatalogSnapshot {
    return this.#snapshot
  }

  /** The policy file of the process; it binds the tools of every workspace. */
  filePolicy(): Policy | undefined {
    return this.#options.filePolicy === undefined ? this.#snapshot.policy : this.#options.filePolicy()
  }

  /** Whether a tool can run now; undefined if unknown. */
  readinessOf(tool: RunnableTool): Readiness | undefined {
    return this.#options.readinessOf?.(tool)
  }

  /** The isolation level of a call of a tool; undefined where callers need no such information. */
  isolationOf(tool: RunnableTool): Isolation | undefined {
    return this.#options.isolationOf?.(tool)
  }

  /** The failures of the last load; a config that was loaded before keeps its previous tools. */
  failures(): readonly LoadFailure[] {
    return this.#failures
  }

  /** The searchable catalog; loaded on first use, because a server starts without it. */
  async open(): Promise<OpenCatalog> {
    const { openCatalog } = await loadOpenCatalog()
    this.#opened ??= openCatalog(this.#options, () => this.#snapshot)
    return this.#opened
  }

  /** The tools of the registry by name; empty if no registry feeds this catalog. */
  registered(): readonly CatalogTool[] {
    const tools = Array.from(this.#opened?.tools.entries.values() ?? [], ({ tool }) => tool)
    return tools.filter(({ source }) => source === 'registry').sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Adds a listener for every change of tools that took effect, of configs or of the registry. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
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
      this.#swap(build(this.#options, configs, this.#snapshot.version + 1))
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
  #swap(next: CatalogSnapshot): void {
    const before = this.#snapshot
    this.#snapshot = next
    try {
      this.#opened?.replaceConfigs(next)
    } catch (error) {
      this.#snapshot = before
      throw error
    }
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

const textOf = ({ name, error }: LoadFailure): string => [name, ...reasonsOf(error)].join('\n')

const reasonsOf = (error: TooldexError): readonly string[] =>
  error.problems.length > 0 ? error.problems.map(formatProblem) : [error.message]

function build(
  { policyFile, logger }: LiveCatalogOptions,
  configs: readonly LoadedConfig[],
  version: number,
): CatalogSnapshot {
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
  for (const entry of entries) names.set(toClientName(entry.toolName), entry).set(configToolId(entry), entry)
  // Real names last, so that no short name or id of another tool can hide one.
  for (const entry of entries) names.set(entry.toolName, entry)
  return names
}

/** The id of a tool of a config. */
export const configToolId = (entry: ToolIndexEntry): string =>
  formatToolId({ namespace: entry.cliName, name: entry.toolName })
