import type { Logger } from '../../base/logger.ts'
import type { Source } from '../../contract/source.ts'
import type { Stores } from '../../contract/stores.ts'
import { LiveCatalogue } from '../live-catalogue.ts'
import type { LiveIndexOptions } from '../live-index.ts'
import { RegistryFeed } from './registry-feed.ts'

interface CataloguesOptions extends LiveIndexOptions {
  readonly stores: Stores
  readonly logger: Logger
  /** The catalogue of the first workspace, which has the tools of configs as well. */
  readonly first: LiveCatalogue
  readonly signal: AbortSignal
}

const firstWorkspace = 'default'
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
    const { stores, logger, first, loadEmbedder, remote } = this.#options
    const catalogue =
      workspace === firstWorkspace ? first : new LiveCatalogue({ source: noConfigs, logger, loadEmbedder, remote })
    await new RegistryFeed({ stores, catalogue, workspace, logger }).follow(signal)
    return catalogue
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
