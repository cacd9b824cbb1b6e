import type { NewStoredResult, ResultContent } from '../contract/execution.ts'
import type { StoredResult } from '../contract/run.ts'

const limits = { results: 100, bytes: 64 * 1024 * 1024 }

/** Large outputs of a process without a database, in memory until they expire; the oldest is dropped first. */
export class MemoryResults {
  readonly #results = new Map<string, NewStoredResult & { readonly expiresAt: number; readonly bytes: number }>()
  #bytes = 0

  keep(result: NewStoredResult): StoredResult {
    const { handle, mediaType, content, lifeMs } = result
    const bytes = Buffer.byteLength(content)
    const expiresAt = Date.now() + lifeMs
    this.#results.set(handle, { ...result, expiresAt, bytes })
    this.#bytes += bytes
    for (const oldest of this.#results.keys()) {
      if (this.#results.size <= limits.results && this.#bytes <= limits.bytes) break
      this.#remove(oldest)
    }
    return { handle, mediaType, bytes, expiresAt: new Date(expiresAt).toISOString() }
  }

  read(handle: string): ResultContent | undefined {
    const found = this.#results.get(handle)
    if (found !== undefined && found.expiresAt > Date.now()) return found
    if (found !== undefined) this.#remove(handle)
    return undefined
  }

  #remove(handle: string): void {
    this.#bytes -= this.#results.get(handle)?.bytes ?? 0
    this.#results.delete(handle)
  }
}
