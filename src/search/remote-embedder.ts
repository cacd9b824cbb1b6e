import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BoundedMap } from '../base/bounded-map.ts'
import { ensurePrivateFolder } from '../base/home-files.ts'
import { untilAborted } from '../base/until-aborted.ts'
import type { SearchableTool } from '../contract/search.ts'
import type { Embedder } from './encoder.ts'
import { toolFields } from './tool-fields.ts'

/** The embeddings service, and the time a search may wait for it. */
export interface RemoteEmbedderOptions {
  /** An OpenAI-compatible service: its `/embeddings` URL, or the base URL above it. */
  readonly url: string
  readonly model: string
  readonly apiKey?: string | undefined
  /** The cache folder of vectors, with files named by the hash of their text. */
  readonly cacheFolder: string
  readonly deadlineMs?: number | undefined
  readonly onFailure?: ((reason: string) => void) | undefined
}

const batch = 64
const usualDeadlineMs = 1500
const maxText = 8000
const maxQueries = 1000
const maxResponse = 64 * 1024 * 1024

/**
 * Vectors of a service. A search requests missing vectors before it ranks, waits until the deadline at most, and ranks by
 * words only if the service did not respond.
 */
export class RemoteEmbedder implements Embedder {
  readonly #options: RemoteEmbedderOptions
  readonly #tools = new Map<string, Float32Array>()
  readonly #queries = new BoundedMap<string, Float32Array>(maxQueries)
  dim = 0

  constructor(options: RemoteEmbedderOptions) {
    this.#options = options
  }

  embedQuery(text: string): Float32Array | undefined {
    return this.#queries.get(text)
  }

  embedTool(tool: SearchableTool): Float32Array | undefined {
    return this.#tools.get(toolText(tool))
  }

  /** Requests the vectors of a query and of tools without one; returns whether all of them are available. */
  async prepare(query: string, tools: readonly SearchableTool[], signal?: AbortSignal): Promise<boolean> {
    const deadline = AbortSignal.timeout(this.#options.deadlineMs ?? usualDeadlineMs)
    const stop = signal === undefined ? deadline : AbortSignal.any([signal, deadline])
    try {
      const texts = [...new Set(tools.map(toolText))].filter((text) => !this.#tools.has(text))
      const missing = texts.filter((text) => !this.#readCached(text))
      for (let start = 0; start < missing.length; start += batch) {
        const part = missing.slice(start, start + batch)
        for (const [index, vector] of (await this.#fetch(part, stop)).entries())
          this.#keepTool(part[index] as string, vector)
      }
      if (!this.#queries.has(query)) await this.#keepQuery(query, stop)
      return true
    } catch (error) {
      this.#options.onFailure?.(deadline.aborted ? 'the embeddings service timed out' : reasonOf(error))
      return false
    }
  }

  /** Only the latest queries are cached: their number is unbounded. */
  async #keepQuery(query: string, signal: AbortSignal): Promise<void> {
    const [vector] = await this.#fetch([query], signal)
    this.#queries.set(query, this.#toUnit(vector as Float32Array))
  }

  #keepTool(text: string, vector: Float32Array): void {
    this.#tools.set(text, this.#toUnit(vector))
    this.#writeCached(text, vector)
  }

  async #fetch(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const { url, model, apiKey } = this.#options
    const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
    const response = await fetch(url.endsWith('/embeddings') ? url : `${url.replace(/\/$/, '')}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...key },
      body: JSON.stringify({ model, input: texts.map((text) => text.slice(0, maxText)) }),
      // A redirect would forward the key.
      redirect: 'error',
      signal,
    })
    if (!response.ok) throw new Error(`the embeddings service returned HTTP ${response.status}`)
    return readVectors(await untilAborted(readBounded(response), signal), texts.length)
  }

  /** Unit vectors, all of one size. */
  #toUnit(vector: Float32Array): Float32Array {
    if (this.dim !== 0 && vector.length !== this.dim)
      throw new Error('the embeddings service changed the size of its vectors')
    this.dim = vector.length
    const length = Math.hypot(...vector) || 1
    return vector.map((value) => value / length)
  }

  #readCached(text: string): boolean {
    try {
      const bytes = readFileSync(this.#pathOf(text))
      const vector = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
      this.#tools.set(text, this.#toUnit(vector))
      return true
    } catch {
      return false
    }
  }

  #writeCached(text: string, vector: Float32Array): void {
    try {
      ensurePrivateFolder(this.#options.cacheFolder)
      writeFileSync(this.#pathOf(text), Buffer.from(vector.buffer), { mode: 0o600 })
    } catch {
      // Requested again next time.
    }
  }

  #pathOf(text: string): string {
    const { url, model, cacheFolder } = this.#options
    const hash = createHash('sha256')
      .update(JSON.stringify([url, model, text]))
      .digest('hex')
    return join(cacheFolder, `${hash.slice(0, 40)}.f32`)
  }
}

/** The text of a tool that is sent to a service. */
function toolText(tool: SearchableTool): string {
  return toolFields(tool)
    .map(({ text }) => text)
    .join('\n')
}

async function readBounded(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += (part as Uint8Array).length
    if (size > maxResponse) throw new Error('the embeddings service returned too much data')
    parts.push(part as Uint8Array)
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}

function readVectors(body: unknown, count: number): readonly Float32Array[] {
  const rows = (body as { data?: unknown } | null)?.data
  if (!Array.isArray(rows) || rows.length !== count)
    throw new Error('the embeddings service returned a wrong number of vectors')
  return rows.map((row: { embedding?: unknown }) => {
    const numbers = row.embedding
    const isVector = Array.isArray(numbers) && numbers.length > 0 && numbers.every((value) => Number.isFinite(value))
    if (!isVector) throw new Error('the embeddings service returned an invalid vector')
    return Float32Array.from(numbers as number[])
  })
}

const reasonOf = (error: unknown): string =>
  error instanceof SyntaxError
    ? 'the embeddings service did not return JSON'
    : error instanceof Error
      ? error.message
      : 'unknown error'
