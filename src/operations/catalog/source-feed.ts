import { toTooldexError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog, SyncedTool } from '../../catalog/index.ts'
import type { SourceManifest, SourceSummary } from '../../contract/source.ts'
import type { Stores } from '../../contract/stores.ts'
import { approvalHash, ownerOf } from '../../rules/server-definition.ts'
import type { LiveCatalog } from './live-catalog.ts'
import { showHiddenTexts, toSourceTool } from './source-tool.ts'

interface FeedParts {
  readonly stores: Stores
  readonly workspace: string
  readonly logger: Logger
  readonly catalog: Pick<LiveCatalog, 'manifests' | 'signIns'>
}

/** Keeps the tools of the sources of a workspace in a catalog, from their stored manifests: no server is started for it. */
export class SourceFeed {
  readonly #stores: Stores
  readonly #workspace: string
  readonly #logger: Logger
  readonly #catalog: FeedParts['catalog']
  readonly #manifests: LiveCatalog['manifests']
  /** The state of each source whose tools the catalog has. */
  readonly #shown = new Map<string, string>()

  constructor({ stores, workspace, logger, catalog }: FeedParts) {
    this.#stores = stores
    this.#workspace = workspace
    this.#logger = logger
    this.#catalog = catalog
    this.#manifests = catalog.manifests
  }

  /** Applies the sources that changed since the last time. */
  async sync(tools: Catalog): Promise<void> {
    const offered = (await this.#stores.sources.list(this.#workspace)).filter(isOffered)
    const states = new Map(offered.map((source) => [source.name, stateOf(source)]))
    this.#catalog.signIns = await this.#neededSignIns(offered)
    for (const name of [...this.#shown.keys()]) if (!states.has(name)) this.#set(tools, name, [], undefined)
    for (const [name, state] of states) {
      if (this.#shown.get(name) === state) continue
      this.#set(tools, name, await this.#toolsOf(name), state)
    }
  }

  /** The sources that need a sign-in, whose state for a caller is read when it matters. */
  async #neededSignIns(offered: readonly SourceSummary[]): Promise<LiveCatalog['signIns']> {
    const urls = offered.filter(({ server }) => 'url' in server)
    if (urls.length === 0) return new Map()
    const shared = await this.#stores.signIns.list(this.#workspace, [''])
    const ended = new Set(shared.flatMap(({ source, isSignedIn }) => (isSignedIn ? [] : [source])))
    const needed = new Map<string, 'caller' | 'shared'>()
    for (const { name, server } of urls)
      if (ownerOf(server, name) !== '') needed.set(name, 'caller')
      else if (ended.has(name)) needed.set(name, 'shared')
    return needed
  }

  #set(tools: Catalog, serverName: string, synced: readonly SyncedTool[], state: string | undefined): void {
    tools.syncParsed({ kind: 'mcp', serverName }, synced)
    if (state === undefined) this.#manifests.delete(serverName)
    if (state === undefined) this.#shown.delete(serverName)
    else this.#shown.set(serverName, state)
  }

  async #toolsOf(name: string): Promise<readonly SyncedTool[]> {
    const source = await this.#stores.sources.get(this.#workspace, name)
    const { manifest = null, server } = source ?? {}
    const hasOffers =
      manifest !== null && manifest.prompts.length + manifest.resources.length + manifest.templates.length > 0
    if (hasOffers && server?.passThrough !== false) this.#manifests.set(name, visibleManifest(manifest))
    else this.#manifests.delete(name)
    const synced: SyncedTool[] = []
    const turn = yieldTurns()
    for (const item of source?.manifest?.tools ?? []) {
      try {
        synced.push(toSourceTool({ workspace: this.#workspace, name }, source?.server, item))
      } catch (thrown) {
        const tool = String(item.name).slice(0, 200)
        this.#logger.warn('left out a tool of a source', { source: name, tool, reason: toTooldexError(thrown).message })
      }
      await turn()
    }
    return synced
  }
}

/** The prompts and resources of a manifest without hidden characters in their texts. */
const visibleManifest = (manifest: SourceManifest): SourceManifest => ({
  ...manifest,
  prompts: manifest.prompts.map(showHiddenTexts),
  resources: manifest.resources.map(showHiddenTexts),
  templates: manifest.templates.map(showHiddenTexts),
})

/** Nothing is offered of a source whose present command is not approved. */
const isOffered = ({ server, approvedHash, readAt }: SourceSummary): boolean =>
  readAt !== null && approvedHash === approvalHash(server)

const stateOf = ({ revision, createdAt }: SourceSummary): string => `${revision} ${createdAt}`
