import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { toTooldexError } from '../../base/errors.ts'
import { deepFreeze } from '../../base/json-values.ts'
import type { Logger } from '../../base/logger.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { normalizeTags, type SyncedTool } from '../../catalog/index.ts'
import type { Backend, CatalogTool } from '../../contract/catalog.ts'
import { toMcpAnnotations } from '../../contract/catalog.ts'
import type { OfferedTool } from '../../contract/registry.ts'
import type { Stores } from '../../contract/stores.ts'
import { toRunnableTool } from '../../rules/runnable-tool.ts'
import { resolveStoredToolsets } from './caller-toolsets.ts'
import type { LiveCatalog } from './live-catalog.ts'
import { SourceFeed } from './source-feed.ts'

/** The backend of registered tools. */
const registryBackend: Backend = { kind: 'local', name: 'registry' }
// A notification may be lost; polling the change counter this often still detects the change within a second.
const pollIntervalMs = 700
/** Under constant changes, the pause between two reads is this long plus the duration of the last read. */
const [pauseMs, maxPauseMs] = [50, 300]

/** The tools of the last read by id, and the position in the change log. */
interface Shown {
  readonly tools: ReadonlyMap<string, SyncedTool>
  readonly seen: string
}

/** Keeps a catalog equal to the active tools of a workspace, across all processes that change them. */
export class RegistryFeed {
  readonly #stores: Stores
  readonly #catalog: LiveCatalog
  readonly #workspace: string
  readonly #logger: Logger
  readonly #sources: SourceFeed
  #seen = -1
  #state: Shown | undefined
  #soon: NodeJS.Timeout | undefined
  #tookMs = 0
  #reported = false
  #endedAt = Number.NEGATIVE_INFINITY
  #syncing: Promise<void> | undefined
  #again = false

  constructor(options: { stores: Stores; catalog: LiveCatalog; workspace: string; logger: Logger }) {
    this.#stores = options.stores
    this.#catalog = options.catalog
    this.#workspace = options.workspace
    this.#logger = options.logger
    this.#sources = new SourceFeed(options)
    options.catalog.syncRegistry = () => this.syncNow()
  }

  /** Follows changes until the signal is aborted; resolves after the first read is applied. */
  async follow(signal: AbortSignal): Promise<void> {
    await this.sync()
    void this.#listen(signal)
    void this.#poll(signal)
  }

  /** Applies the present state; changes that arrive meanwhile are applied afterwards. */
  sync(): Promise<void> {
    this.#again = this.#syncing !== undefined
    this.#syncing ??= this.#takeOver().finally(() => {
      this.#syncing = undefined
      if (this.#again) void this.sync().catch(() => {})
    })
    return this.#syncing
  }

  /** Applies all changes that are stored now. */
  async syncNow(): Promise<void> {
    // A read that has begun may miss the latest change.
    await this.#syncing?.catch(() => {})
    await this.sync()
  }

  async #takeOver(): Promise<void> {
    const began = performance.now()
    const version = await this.#stores.feed.version(this.#workspace)
    const state = (await this.#changed()) ?? (await this.#all())
    const hasNewRules = await this.#takeRules()
    const tools = await this.#catalog.open()
    const before = tools.version
    tools.syncParsed(registryBackend, [...state.tools.values()])
    await this.#sources.sync(tools)
    if (tools.version !== before || hasNewRules) this.#catalog.announce()
    this.#seen = version
    this.#state = state
    this.#endedAt = performance.now()
    this.#tookMs = Math.min(this.#endedAt - began, maxPauseMs)
  }

  /** Reads what restricts callers; returns whether it has changed, because the lists of tools may have changed with it. */
  async #takeRules(): Promise<boolean> {
    const rules = {
      policies: await this.#stores.policies.list(this.#workspace),
      toolsets: await resolveStoredToolsets(this.#stores, this.#workspace),
    }
    const { policies, toolsets } = this.#catalog
    const secrets = await this.#stores.secrets.list(this.#workspace)
    const limits = await this.#stores.limits.list(this.#workspace)
    Object.assign(this.#catalog, rules, { limits, secrets: new Set(secrets.map(({ name }) => name)) })
    return policies !== undefined && !isDeepStrictEqual({ policies, toolsets }, rules)
  }

  /** The previous tools with the changes since; undefined if the change log is not sufficient. */
  async #changed(): Promise<Shown | undefined> {
    if (this.#state === undefined) return undefined
    const { tools: changed, active, seen } = await this.#stores.tools.offeredSince(this.#workspace, this.#state.seen)
    if (changed === undefined) return undefined
    const tools = new Map(this.#state.tools)
    const rest = yieldTurns()
    for (const each of changed) {
      if (each.tool.status === 'ACTIVE') tools.set(each.tool.id, this.#shown(each))
      else tools.delete(each.tool.id)
      await rest()
    }
    // The counts differ: some tools were deleted.
    return tools.size === active ? { tools, seen } : undefined
  }

  async #all(): Promise<Shown> {
    const { tools: offered, seen } = await this.#stores.tools.offered(this.#workspace)
    const tools = new Map<string, SyncedTool>()
    const rest = yieldTurns()
    for (const each of offered) {
      tools.set(each.tool.id, this.#shown(each))
      await rest()
    }
    return { tools, seen }
  }

  /** A tool in catalog form: the same object as before if it is equal, so that the catalog does not compare all tools in one turn. */
  #shown(offered: OfferedTool): SyncedTool {
    const shown = toShown(offered)
    const before = this.#state?.tools.get(offered.tool.id)?.tool
    return isDeepStrictEqual(before, shown.tool) ? { ...shown, tool: before as CatalogTool } : shown
  }

  /** Schedules a read: immediately, or shortly after a recent one, together with all changes until then. */
  #syncSoon(): void {
    const since = performance.now() - this.#endedAt
    this.#soon ??= setTimeout(
      () => {
        this.#soon = undefined
        void this.sync().catch(() => {})
      },
      Math.max(0, pauseMs + this.#tookMs - since),
    )
    this.#soon.unref()
  }

  async #listen(signal: AbortSignal): Promise<void> {
    try {
      const stop = await this.#stores.feed.listen((workspace) => {
        if (workspace === this.#workspace) this.#syncSoon()
      })
      signal.addEventListener('abort', () => void stop().catch(() => {}), { once: true })
    } catch {
      this.#logger.warn('LISTEN unavailable; polling for tool changes')
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        if ((await this.#stores.feed.version(this.#workspace)) !== this.#seen) await this.sync()
        this.#reported = false
      } catch (thrown) {
        // The tools stay as they were until the next attempt.
        if (!this.#reported)
          this.#logger.warn('cannot read tool changes from the database', { reason: toTooldexError(thrown).message })
        this.#reported = true
      }
    }
  }
}

/** A registered tool in catalog form, with its runnable form without the script. */
export const toShown = (offered: OfferedTool): SyncedTool => ({
  tool: toCatalogTool(offered),
  runnable: { ...toRunnableTool(offered.tool), scriptContent: null },
})

function toCatalogTool({ tool, category }: OfferedTool): CatalogTool {
  const { name, namespace, displayName, description, inputSchema, outputSchema, annotations, tags } = tool
  return deepFreeze({
    name,
    ...(namespace === null ? {} : { namespace }),
    title: displayName,
    description,
    // Clients require the type of every definition.
    inputSchema: 'type' in inputSchema ? inputSchema : { type: 'object', ...inputSchema },
    ...(Object.keys(outputSchema).length === 0 ? {} : { outputSchema }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations: toMcpAnnotations(annotations) }),
    ...(tool.icons.length === 0 ? {} : { icons: tool.icons }),
    ...(Object.keys(tool._meta).length === 0 ? {} : { _meta: tool._meta }),
    tags: normalizeTags(tags),
    ...(tool.summary === null ? {} : { summary: tool.summary }),
    ...(category === null ? {} : { category }),
    ...(tool.inputModes.length === 0 ? {} : { inputModes: tool.inputModes }),
    ...(tool.outputModes.length === 0 ? {} : { outputModes: tool.outputModes }),
    ...(tool.securitySummary === null ? {} : { securitySummary: tool.securitySummary }),
    ...(tool.exampleRequests.length === 0 ? {} : { exampleRequests: tool.exampleRequests }),
    source: 'registry' as const,
    status: tool.status,
  })
}
