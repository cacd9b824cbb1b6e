import type { NewStoredResult, ResultContent } from '../contract/execution.ts'
import type { StoredResult } from '../contract/run.ts'

const most = { results: 100, bytes: 64 * 1024 * 1024 }

/** Large outputs of a process without a database: kept in memory for a while, the oldest forgotten first. */
export class MemoryResults {
  readonly #kept = new Map<string, NewStoredResult & { readonly until: number; readonly bytes: number }>()
  #bytes = 0

  keep(result: NewStoredResult): StoredResult {
    const { handle, mediaType, content, lifeMs } = result
    const bytes = Buffer.byteLength(content)
    const until = Date.now() + lifeMs
    this.#kept.set(handle, { ...result, until, bytes })
    this.#bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= most.results && this.#bytes <= most.bytes) break
      this.#forget(oldest)
    }
    return { handle, mediaType, bytes, expiresAt: new Date(until).toISOString() }
  }

  read(handle: string): ResultContent | undefined {
    const found = this.#kept.get(handle)
    if (found !== undefined && found.until > Date.now()) return found
    if (found !== undefined) this.#forget(handle)
    return undefined
  }

  #forget(handle: string): void {
    this.#bytes -= this.#kept.get(handle)?.bytes ?? 0
    this.#kept.delete(handle)
  }
}
