import { TooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { RegistryClient } from '../operations/registry-client/registry-client.ts'
import type { RunOptions } from '../surfaces/cli/index.ts'
import { findServer, hasDatabase, runningServer } from './find-server.ts'
import { SharedRegistry } from './shared-registry.ts'

/** The registry whose tools are offered beside those of configs. */
export interface AttachedRegistry {
  readonly client: RegistryClient
  /** How often changes of its tools are looked for; never where looking would keep others out. */
  readonly pollMs: number | undefined
  /** Whether it refuses everything for want of a key; its tools are not listed then. */
  readonly isRefused?: boolean
}

const pollMs = 3000
// Long enough for an agent that searches, reads and calls; shorter than other processes wait for the database.
const idleMs = 4000

/** Finds the registry: at the server named or running here, or else in the database here; undefined where there is none. */
export function attachRegistry(options: RunOptions, logger: Logger, ending: AbortSignal): AttachedRegistry | undefined {
  refuseContradictions(options)
  // A policy file says what may be called of the configs here; a server has policies of its own.
  if (!options.registry || options.policy !== undefined) return undefined
  const server = findServer(options.server)
  if (server !== undefined && (server.named || !process.env.DATABASE_URL)) {
    if (!server.named && server.key === undefined) return refuse(server.url, logger)
    // A server that runs here may come back at another address.
    const current = {
      get url() {
        return server.named ? server.url : (runningServer()?.url ?? server.url)
      },
      key: server.key,
    }
    const open = async () =>
      (await import('../operations/registry-client/remote-client.ts')).openRemote(current, ending)
    return { client: new SharedRegistry({ open }), pollMs }
  }
  return hasDatabase() ? openDatabaseHere(ending) : undefined
}

function openDatabaseHere(ending: AbortSignal): AttachedRegistry {
  const open = async () => (await import('./open-own-registry.ts')).openOwnRegistry(ending, { follow: true })
  // Of a PostgreSQL database others keep nobody out.
  const isEmbedded = !process.env.DATABASE_URL
  const client = new SharedRegistry({ open, idleMs: isEmbedded ? idleMs : undefined })
  return { client, pollMs: isEmbedded ? undefined : pollMs }
}

/** Each answer says what is missing: what is logged is rarely read. */
function refuse(url: string, logger: Logger): AttachedRegistry {
  logger.warn(`the tools of the server at ${url} are not offered: set TOOLDEX_API_KEY to one of its keys`)
  const refusal = () =>
    new TooldexError('UNAUTHORIZED', `The server at ${url} needs a key.`, {
      hint: 'Set TOOLDEX_API_KEY to one of its keys, and start this again.',
    })
  const client: RegistryClient = {
    invoke: () => Promise.reject(refusal()),
    call: () => Promise.reject(refusal()),
    // biome-ignore lint/correctness/useYield: it refuses before there is anything to follow
    follow: async function* () {
      throw refusal()
    },
    close: async () => {},
  }
  return { client, pollMs: undefined, isRefused: true }
}

function refuseContradictions({ server, registry, policy }: RunOptions): void {
  if (server === undefined) return
  if (!registry)
    throw new TooldexError('USAGE', '--server and --no-registry contradict each other.', {
      hint: 'Leave one of them out.',
    })
  if (policy !== undefined)
    throw new TooldexError('USAGE', 'A server has policies of its own.', { hint: 'Leave out --server, or --policy.' })
}
