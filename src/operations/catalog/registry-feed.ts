import { setTimeout as sleep } from 'node:timers/promises'
import { deepFreeze } from '../../base/deep-freeze.ts'
import { toTooldexError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { normalizeTags } from '../../catalog/index.ts'
import { toMcpNames } from '../../contract/annotations.ts'
import type { Backend, CatalogTool } from '../../contract/catalog.ts'
import type { OfferedTool } from '../../contract/offered.ts'
import { fromRegistry } from '../../contract/runnable-tool.ts'
import type { Stores } from '../../contract/stores.ts'
import type { LiveCatalog } from './live-catalog.ts'
import { setRunnable } from './runnable-for.ts'

/** Who runs registered tools. */
const registryBackend: Backend = { kind: 'local', name: 'registry' }
// A notice may be lost; then this much later the number of changes tells, still within a second.
const pollIntervalMs = 700
/** Where changes come all the time, this much time goes by between two looks, and as much again as a look took. */
const [pauseMs, maxPauseMs] = [50, 300]

/** The tools that the catalog was given, by their ids, and up to where they were seen. */
interface Shown {
  readonly tools: ReadonlyMap<string, CatalogTool>
  readonly seen: string
}

/** Keeps a catalog equal to the active tools of a workspace, whoever changes them in whichever process. */
export class RegistryFeed {
  readonly #stores: Stores
  readonly #catalog: LiveCatalog
  readonly #workspace: string
  readonly #logger: Logger
  #seen = -1
  #shown: Shown | undefined
  #soon: NodeJS.Timeout | undefined
  #tookMs = 0
  #told = false
  #endedAt = Number.NEGATIVE_INFINITY
  #syncing: Promise<void> | undefined
  #again = false

  constructor(options: { stores: Stores; catalog: LiveCatalog; workspace: string; logger: Logger }) {
    this.#stores = options.stores
    this.#catalog = options.catalog
    this.#workspace = options.workspace
    this.#logger = options.logger
  }

  /** Follows changes until the signal is aborted; resolved when the first look is taken over. */
  async follow(signal: AbortSignal): Promise<void> {
    await this.sync()
    void this.#listen(signal)
    void this.#look(signal)
  }

  /** Takes over what is there now; a change that comes in between is taken over after it. */
  sync(): Promise<void> {
    this.#again = this.#syncing !== undefined
    this.#syncing ??= this.#takeOver().finally(() => {
      this.#syncing = undefined
      if (this.#again) void this.sync().catch(() => {})
    })
    return this.#syncing
  }

  async #takeOver(): Promise<void> {
    const began = performance.now()
    const version = await this.#stores.feed.version(this.#workspace)
    const shown = (await this.#changed()) ?? (await this.#all())
    this.#catalog.policies = await this.#stores.policies.list(this.#workspace)
    const { tools } = await this.#catalog.open()
    const before = tools.version
    tools.sync(registryBackend, [...shown.tools.values()], { checked: true })
    if (tools.version !== before) this.#catalog.announce()
    this.#seen = version
    this.#shown = shown
    this.#endedAt = performance.now()
    this.#tookMs = Math.min(this.#endedAt - began, maxPauseMs)
  }

  /** What is shown, with what changed since; undefined where that is not enough to know it. */
  async #changed(): Promise<Shown | undefined> {
    if (this.#shown === undefined) return undefined
    const { tools: changed, active, seen } = await this.#stores.tools.offeredSince(this.#workspace, this.#shown.seen)
    if (changed === undefined) return undefined
    const tools = new Map(this.#shown.tools)
    for (const each of changed) {
      if (each.tool.status === 'ACTIVE') tools.set(each.tool.id, toShown(each))
      else tools.delete(each.tool.id)
    }
    // Some were deleted otherwise.
    return tools.size === active ? { tools, seen } : undefined
  }

  async #all(): Promise<Shown> {
    const { tools: offered, seen } = await this.#stores.tools.offered(this.#workspace)
    const tools = new Map<string, CatalogTool>()
    const rest = yieldTurns()
    for (const each of offered) {
      tools.set(each.tool.id, toShown(each))
      await rest()
    }
    return { tools, seen }
  }

  /** Takes over what was told of: now, or, where that was done just before, in a moment, with what is told until then. */
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

  async #look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        if ((await this.#stores.feed.version(this.#workspace)) !== this.#seen) await this.sync()
        this.#told = false
      } catch (thrown) {
        // The tools stay as they were, and it is asked again.
        if (!this.#told)
          this.#logger.warn('cannot read tool changes from the database', { reason: toTooldexError(thrown).message })
        this.#told = true
      }
    }
  }
}

/** A registered tool as the catalog keeps it, with how it would be run. */
export function toShown(offered: OfferedTool): CatalogTool {
  const tool = toCatalogTool(offered)
  setRunnable(tool, fromRegistry(offered.tool))
  return tool
}

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
    ...(Object.keys(annotations).length === 0 ? {} : { annotations: toMcpNames(annotations) }),
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
