import { closeSync, openSync, readSync } from 'node:fs'
import type { SearchableTool } from '../contract/search.ts'
import type { ToolWords } from './text-index.ts'
import { type EncoderHeader, WordEncoder } from './word-encoder.ts'

/** Turns texts into vectors whose cosine says how alike they are in meaning. */
export interface Embedder {
  readonly dim: number
  /** Unit vectors, valid until the next call; undefined for a text with no known word. */
  embedQuery(text: string): Float32Array | undefined
  /** Who has read the words of a tool already may hand them over. */
  embedTool(tool: SearchableTool, words?: ToolWords): Float32Array | undefined
}

/** Loads the encoder that ships with the package: a vector and two weights for each word, nothing more. */
export function loadEncoder(file: string): Embedder {
  const handle = openSync(file, 'r')
  try {
    const take = (size: number): Buffer => {
      const bytes = Buffer.alloc(size)
      if (readSync(handle, bytes) !== size) throw new Error(`${file} is cut off`)
      return bytes
    }
    const aligned = (size: number) => Math.ceil(size / 4) * 4
    const sizes = take(8)
    const [headerSize, textSize] = [sizes.readUInt32LE(0), sizes.readUInt32LE(4)]
    const header: EncoderHeader = JSON.parse(take(aligned(headerSize)).toString('utf8', 0, headerSize))
    const text = take(aligned(textSize)).subarray(0, textSize)
    const numbers = new Float32Array(new Uint8Array(take(header.words * 12)).buffer)
    const readRows = (rows: Uint8Array) => {
      if (readSync(handle, rows) !== rows.length) throw new Error(`${file} is cut off`)
    }
    return new WordEncoder(header, { text, numbers, readRows })
  } finally {
    closeSync(handle)
  }
}
