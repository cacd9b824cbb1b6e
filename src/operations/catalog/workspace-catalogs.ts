import type { Logger } from '../../base/logger.ts'
import type { Source } from '../../contract/cli-config.ts'
import type { GrantsOf } from '../../contract/executor-kinds.ts'
import { executorKinds } from '../../contract/executor-kinds.ts'
import type { Stores } from '../../contract/stores.ts'
import { type EmbedderOptions, LiveCatalog } from './live-catalog.ts'
import { RegistryFeed } from './registry-feed.ts'

interface WorkspaceCatalogsOptions extends EmbedderOptions {
  readonly stores: Stores
  readonly logger: Logger
  /** The catalog of the first workspace, which includes the tools of configs. */
  readonly first: LiveCatalog
  readonly signal: AbortSignal
  /** Without it, every workspace has all grants. */
  readonly grantsOf?: GrantsOf | undefined
}

const firstWorkspace = 'default'
const maxOpen = 100
const noConfigs: Source = { kind: 'none', load: () => ({ configs: [], failures: [] }), watch: () => {} }

/** One catalog per workspace, opened on first use; none contains tools of another workspace. */
export class WorkspaceCatalogs {
  readonly #options: WorkspaceCatalogsOptions
  readonly #open = new Map<string, { readonly catalog: Promise<LiveCatalog>; readonly ending: AbortController }>()

  constructor(options: WorkspaceCatalogsOptions) {
    this.#options = options
  }

  of(workspace: string): Promise<LiveCatalog> {
    const known = this.#open.get(workspace)
    if (known !== undefined) return known.catalog
    const ending = new AbortController()
    this.#options.signal.addEventListener('abort', () => ending.abort(), { once: true, signal: ending.signal })
    const catalog = this.#start(workspace, ending.signal)
    this.#open.set(workspace, { catalog, ending })
    catalog.catch(() => this.#open.delete(workspace))
    if (this.#open.size > maxOpen) this.#closeOldest()
    return catalog
  }

  async #start(workspace: string, signal: AbortSignal): Promise<LiveCatalog> {
    const { stores, logger, first } = this.#options
    const catalog = workspace === firstWorkspace ? first : this.#other(workspace)
    await new RegistryFeed({ stores, catalog, workspace, logger }).follow(signal)
    return catalog
  }

  /** Its tools run on the same runner as those of the first workspace, isolated unless the workspace has host grants. */
  #other(workspace: string): LiveCatalog {
    const { logger, first, loadEmbedder, remote, grantsOf } = this.#options
    const hasHost = grantsOf?.(workspace).includes('host') ?? true
    return new LiveCatalog({
      source: noConfigs,
      logger,
      loadEmbedder,
      remote,
      filePolicy: () => first.filePolicy(),
      readinessOf: (runnable) => first.hostReadinessOf(runnable),
      secretsOf: (runnable) => first.secretsOf(runnable),
      isolationOf: (runnable) =>
        hasHost || !executorKinds[runnable.executorType].isProcess
          ? first.isolationOf({ runnable })
          : ('isolated' as const),
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
