import { setTimeout as sleep } from 'node:timers/promises'
import { deepFreeze } from '../../base/deep-freeze.ts'
import type { Logger } from '../../base/logger.ts'
import { takeTurns } from '../../base/take-turns.ts'
import { normalizeTags } from '../../catalog/index.ts'
import type { Backend, CatalogTool } from '../../contract/catalog.ts'
import type { OfferedTool, Stores } from '../../contract/stores.ts'
import type { LiveCatalogue } from '../live-catalogue.ts'

/** Who runs registered tools. */
const registryBackend: Backend = { kind: 'local', name: 'registry' }
// A notice may be lost; then this much later the number of changes tells, still within a second.
const lookEveryMs = 700

/** Keeps a catalogue equal to the active tools of a workspace, whoever changes them in whichever process. */
export class RegistryFeed {
  readonly #stores: Stores
  readonly #catalogue: LiveCatalogue
  readonly #workspace: string
  readonly #logger: Logger
  #seen = -1
  #syncing: Promise<void> | undefined
  #again = false

  constructor(options: { stores: Stores; catalogue: LiveCatalogue; workspace: string; logger: Logger }) {
    this.#stores = options.stores
    this.#catalogue = options.catalogue
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
    const version = await this.#stores.feed.version(this.#workspace)
    const offered = await this.#stores.tools.offered(this.#workspace)
    this.#catalogue.policies = await this.#stores.policies.list(this.#workspace)
    const { tools } = await this.#catalogue.open()
    const shown: CatalogTool[] = []
    const rest = takeTurns()
    for (const tool of offered) {
      shown.push(toCatalogTool(tool))
      await rest()
    }
    const before = tools.version
    tools.sync(registryBackend, shown, { checked: true })
    if (tools.version !== before) this.#catalogue.announce()
    this.#seen = version
  }

  async #listen(signal: AbortSignal): Promise<void> {
    try {
      const stop = await this.#stores.feed.listen((workspace) => {
        if (workspace === this.#workspace) void this.sync().catch(() => {})
      })
      signal.addEventListener('abort', () => void stop().catch(() => {}), { once: true })
    } catch {
      this.#logger.warn('changes of tools are noticed by looking only: the database sends no notices')
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(lookEveryMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        if ((await this.#stores.feed.version(this.#workspace)) !== this.#seen) await this.sync()
      } catch {
        // The database is away; the tools stay as they were, and it is asked again.
      }
    }
  }
}

/** A registered tool as the catalogue keeps it. */
export function toCatalogTool({ tool, category }: OfferedTool): CatalogTool {
  const { name, namespace, displayName, description, inputSchema, outputSchema, annotations, tags } = tool
  return deepFreeze({
    name,
    ...(namespace === null ? {} : { namespace }),
    title: displayName,
    description,
    inputSchema,
    ...(Object.keys(outputSchema).length === 0 ? {} : { outputSchema }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
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
