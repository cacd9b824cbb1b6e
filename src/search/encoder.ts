import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { SearchableTool } from '../contract/search.ts'
import type { ManyToolWords, ToolWords } from './text-index.ts'
import { type EncoderHeader, WordEncoder } from './word-encoder.ts'

/** Converts texts to vectors whose cosine is their similarity in meaning. */
export interface Embedder {
  readonly dim: number
  /** Unit vectors, valid until the next call; undefined for a text without a known word. */
  embedQuery(text: string): Float32Array | undefined
  /** Callers that have read the words of a tool already can pass them. */
  embedTool(tool: SearchableTool, words?: ToolWords): Float32Array | undefined
  /** Many at once, if that is faster: rows in the format of `VectorTable`, zeros for a tool without a known word. */
  embedTools?(words: ManyToolWords): Int8Array
}

/**
 * Loads the encoder of the package: a vector and two weights for each word. Throws if the file differs from its entry in
 * SHA256SUMS.
 */
export function loadEncoder(file: string): Embedder {
  const expected = expectedChecksum(file)
  const handle = openSync(file, 'r')
  const hash = createHash('sha256')
  try {
    const fill = (bytes: Uint8Array): void => {
      if (readSync(handle, bytes) !== bytes.length) throw new Error(`${file} is cut off`)
      hash.update(bytes)
    }
    const take = (size: number): Buffer => {
      const bytes = Buffer.allocUnsafe(size)
      fill(bytes)
      return bytes
    }
    const aligned = (size: number) => Math.ceil(size / 4) * 4
    const sizes = take(8)
    const [headerSize, textSize] = [sizes.readUInt32LE(0), sizes.readUInt32LE(4)]
    const header: EncoderHeader = JSON.parse(take(aligned(headerSize)).toString('utf8', 0, headerSize))
    const encoder = new WordEncoder(header, { text: take(aligned(textSize)).subarray(0, textSize), fill })
    if (expected !== undefined && hash.digest('hex') !== expected)
      throw new Error(`${file} does not match its checksum in SHA256SUMS`)
    return encoder
  } finally {
    closeSync(handle)
  }
}

/** The SHA-256 of a file in the SHA256SUMS beside it; undefined if there is none. */
export function expectedChecksum(file: string): string | undefined {
  let sums: string
  try {
    sums = readFileSync(join(dirname(file), 'SHA256SUMS'), 'utf8')
  } catch {
    return undefined
  }
  const entries = sums.split('\n').map((line) => /^([0-9a-f]{64}) [ *](.+)$/.exec(line))
  return entries.find((entry) => entry?.[2] === basename(file))?.[1]
}
