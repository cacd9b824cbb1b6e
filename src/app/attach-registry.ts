import { TooldexError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import type { Logger } from '../base/logger.ts'
import { toolsetHeader } from '../contract/toolset.ts'
import { databaseExists, findServer, runningServer } from '../operations/registry-client/find-server.ts'
import type { RegistryClient } from '../operations/registry-client/registry-client.ts'
import { SharedRegistry } from '../operations/registry-client/shared-registry.ts'
import { readSetting } from '../rules/settings.ts'
import type { RunOptions } from '../surfaces/cli/index.ts'

const loadRemoteClient = lazyModule(() => import('../operations/registry-client/remote-client.ts'))
// Its database, stores and executors are some hundred files.
const loadOwnRegistry = lazyModule(() => import('./open-own-registry.ts'), 128)

/** The registry whose tools are offered together with those of configs. */
export interface AttachedRegistry {
  readonly client: RegistryClient
  /** The interval of polling for changed tools; undefined if polling would lock the database. */
  readonly pollMs: number | undefined
  /** Whether every request is rejected because there is no key; its tools are not listed then. */
  readonly isRefused?: boolean
}

const pollMs = 3000
// Long enough for an agent to search, read and call; shorter than other processes wait for the database.
const idleMs = 4000

/** Finds the registry of the named or local server, or else of the local database; undefined if there is none. */
export function attachRegistry(options: RunOptions, logger: Logger, ending: AbortSignal): AttachedRegistry | undefined {
  rejectContradictions(options)
  // A policy file applies to local configs; a server has its own policies.
  if (!options.registry || options.policy !== undefined) return undefined
  const server = findServer(options.server)
  if (server !== undefined && (server.named || readSetting('DATABASE_URL') === undefined)) {
    if (!server.named && server.key === undefined) return rejectAll(server.url, logger)
    // A local server may restart at another address.
    const current = {
      get url() {
        return server.named ? server.url : (runningServer()?.url ?? server.url)
      },
      key: server.key,
      headers: options.toolset === undefined ? undefined : { [toolsetHeader]: options.toolset },
    }
    const open = async () => (await loadRemoteClient()).openRemote(current, ending)
    return { client: new SharedRegistry({ open }), pollMs }
  }
  return databaseExists() ? openLocalDatabase(options, ending) : undefined
}

function openLocalDatabase({ codeMode, toolset }: RunOptions, ending: AbortSignal): AttachedRegistry {
  const open = async () => (await loadOwnRegistry()).openOwnRegistry(ending, { follow: true, toolset, codeMode })
  // PostgreSQL allows other processes at the same time.
  const isEmbedded = readSetting('DATABASE_URL') === undefined
  const client = new SharedRegistry({ open, idleMs: isEmbedded ? idleMs : undefined })
  return { client, pollMs: isEmbedded ? undefined : pollMs }
}

/** Rejects every request with the reason, because logs are rarely read. */
function rejectAll(url: string, logger: Logger): AttachedRegistry {
  logger.warn(`The tools of the server at ${url} are not offered. Set TOOLDEX_API_KEY to one of its keys.`)
  const refusal = () =>
    new TooldexError('UNAUTHORIZED', `The server at ${url} needs a key.`, {
      hint: 'Set TOOLDEX_API_KEY to one of its keys and restart.',
    })
  const client: RegistryClient = {
    invoke: () => Promise.reject(refusal()),
    call: () => Promise.reject(refusal()),
    // biome-ignore lint/correctness/useYield: it rejects before there is anything to follow
    follow: async function* () {
      throw refusal()
    },
    close: async () => {},
  }
  return { client, pollMs: undefined, isRefused: true }
}

function rejectContradictions({ server, registry, policy, toolset, configs }: RunOptions): void {
  const other = [!registry && '--no-registry', policy !== undefined && '--policy', configs?.length && 'configs']
  const found = other.find(Boolean)
  if (toolset !== undefined && found)
    throw new TooldexError('USAGE', `--toolset cannot be combined with ${found}.`, {
      hint: 'A toolset selects tools of a server or of the local database; omit the other.',
    })
  if (server === undefined) return
  if (!registry)
    throw new TooldexError('USAGE', '--server and --no-registry contradict each other.', {
      hint: 'Omit one of them.',
    })
  if (policy !== undefined)
    throw new TooldexError('USAGE', '--server cannot be combined with --policy: a server has its own policies.', {
      hint: 'Omit --server or --policy.',
    })
}
