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

const pauseMs = { first: 1000, longest: 600_000 }
const quietPauses = 4

/** The pause after a reading. */
interface Pause {
  readonly ms: number
  readonly endsAt: number
}

/** A server may announce changes all the time: the pauses double until it was quiet for some of them. */
export function nextPause(last: Pause | undefined, now: number): Pause {
  const isBusy = last !== undefined && now - last.endsAt < quietPauses * last.ms
  const ms = isBusy ? Math.min(last.ms * 2, pauseMs.longest) : pauseMs.first
  return { ms, endsAt: now + ms }
}
const readMs = 120_000

/** Compares what servers offer with the accepted definitions, after each start and each announced change. */
export class SourceKeeper {
  readonly #parts: KeeperParts
  readonly #running = new Map<string, 'once' | 'again'>()
  readonly #pauses = new Map<string, Pause>()

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
    const pause = nextPause(this.#pauses.get(key), performance.now())
    this.#pauses.set(key, pause)
    await sleep(pause.ms, undefined, { ref: false })
    const isAgain = this.#running.get(key) === 'again'
    this.#running.delete(key)
    if (isAgain) this.check(ref)
  }
}
