import type { Logger } from '../../base/logger.ts'
import type { GrantsOf } from '../../contract/grants.ts'
import type { Source } from '../../contract/source.ts'
import type { Stores } from '../../contract/stores.ts'
import { LiveCatalogue } from './live-catalog.ts'
import type { LiveIndexOptions } from './live-index.ts'
import { RegistryFeed } from './registry-feed.ts'

interface CataloguesOptions extends LiveIndexOptions {
  readonly stores: Stores
  readonly logger: Logger
  /** The catalogue of the first workspace, which has the tools of configs as well. */
  readonly first: LiveCatalogue
  readonly signal: AbortSignal
  /** Every workspace has all grants where absent. */
  readonly grantsOf?: GrantsOf | undefined
}

const firstWorkspace = 'default'
const processKinds: ReadonlySet<string> = new Set(['cli', 'python', 'shell'])
const mostOpen = 100
const noConfigs: Source = { kind: 'none', load: () => ({ configs: [], failures: [] }), watch: () => {} }

/** A catalogue for each workspace, opened when someone from it asks; none shows the tools of another. */
export class Catalogues {
  readonly #options: CataloguesOptions
  readonly #open = new Map<string, { readonly catalogue: Promise<LiveCatalogue>; readonly ending: AbortController }>()

  constructor(options: CataloguesOptions) {
    this.#options = options
  }

  of(workspace: string): Promise<LiveCatalogue> {
    const known = this.#open.get(workspace)
    if (known !== undefined) return known.catalogue
    const ending = new AbortController()
    this.#options.signal.addEventListener('abort', () => ending.abort(), { once: true, signal: ending.signal })
    const catalogue = this.#start(workspace, ending.signal)
    this.#open.set(workspace, { catalogue, ending })
    catalogue.catch(() => this.#open.delete(workspace))
    if (this.#open.size > mostOpen) this.#closeOldest()
    return catalogue
  }

  async #start(workspace: string, signal: AbortSignal): Promise<LiveCatalogue> {
    const { stores, logger, first } = this.#options
    const catalogue = workspace === firstWorkspace ? first : this.#other(workspace)
    await new RegistryFeed({ stores, catalogue, workspace, logger }).follow(signal)
    return catalogue
  }

  /** Its tools run where those of the first workspace do, and isolated where it was not granted the host. */
  #other(workspace: string): LiveCatalogue {
    const { logger, first, loadEmbedder, remote, grantsOf } = this.#options
    const hasHost = grantsOf?.(workspace).includes('host') ?? true
    return new LiveCatalogue({
      source: noConfigs,
      logger,
      loadEmbedder,
      remote,
      readinessOf: (tool) => first.readinessOf(tool),
      isolationOf: (tool) =>
        hasHost || !processKinds.has(tool.executorType) ? first.isolationOf(tool) : ('isolated' as const),
    })
  }

  #closeOldest(): void {
    for (const [workspace, { ending }] of this.#open) {
      if (workspace === firstWorkspace) continue
      ending.abort()
      this.#open.delete(workspace)
      return
    }
  }
}
