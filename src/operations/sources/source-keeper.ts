import { setTimeout as sleep } from 'node:timers/promises'
import { toTooldexError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import type { SourceRef, SourceServers } from '../../contract/source.ts'
import type { Stores } from '../../contract/stores.ts'
import { storeReading } from './store-reading.ts'

interface KeeperParts {
  readonly stores: Stores
  readonly servers: Pick<SourceServers, 'read'>
  readonly logger: Logger
}

// A server may announce changes all the time.
const pauseMs = 1000
const readMs = 120_000

/** Compares what servers offer with the accepted definitions, after each start and each announced change. */
export class SourceKeeper {
  readonly #parts: KeeperParts
  readonly #running = new Map<string, 'once' | 'again'>()

  constructor(parts: KeeperParts) {
    this.#parts = parts
  }

  /** Reads a server in the background; announcements during a reading lead to one more. */
  check(ref: SourceRef): void {
    const key = `${ref.workspace} ${ref.name}`
    const isRunning = this.#running.has(key)
    this.#running.set(key, isRunning ? 'again' : 'once')
    if (!isRunning) void this.#read(ref, key)
  }

  async #read(ref: SourceRef, key: string): Promise<void> {
    const { stores, servers, logger } = this.#parts
    const caller = { workspace: ref.workspace, actor: 'tooldex' }
    try {
      const manifest = await servers.read(ref, AbortSignal.timeout(readMs))
      await storeReading({ stores, caller, logger }, ref.name, manifest)
    } catch (thrown) {
      logger.info('a source could not be compared', { source: ref.name, reason: toTooldexError(thrown).message })
    }
    await sleep(pauseMs, undefined, { ref: false })
    const isAgain = this.#running.get(key) === 'again'
    this.#running.delete(key)
    if (isAgain) this.check(ref)
  }
}
