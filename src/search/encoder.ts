import { closeSync, openSync, readSync } from 'node:fs'
import type { SearchableTool } from '../contract/search.ts'
import type { ManyToolWords, ToolWords } from './text-index.ts'
import { type EncoderHeader, WordEncoder } from './word-encoder.ts'

/** Turns texts into vectors whose cosine says how alike they are in meaning. */
export interface Embedder {
  readonly dim: number
  /** Unit vectors, valid until the next call; undefined for a text with no known word. */
  embedQuery(text: string): Float32Array | undefined
  /** Who has read the words of a tool already may hand them over. */
  embedTool(tool: SearchableTool, words?: ToolWords): Float32Array | undefined
  /** Many at once, where that is faster: rows as `VectorTable` keeps them, zeros for a tool with no known word. */
  embedTools?(words: ManyToolWords): Int8Array
}

/** Loads the encoder that ships with the package: a vector and two weights for each word, nothing more. */
export function loadEncoder(file: string): Embedder {
  const handle = openSync(file, 'r')
  try {
    const fill = (bytes: Uint8Array): void => {
      if (readSync(handle, bytes) !== bytes.length) throw new Error(`${file} is cut off`)
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
    return new WordEncoder(header, { text: take(aligned(textSize)).subarray(0, textSize), fill })
  } finally {
    closeSync(handle)
  }
}
