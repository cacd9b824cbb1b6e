import type { SearchableTool } from '../contract/search.ts'
import type { Embedder } from './encoder.ts'
import { vectorsBinary } from './kernels.ts'
import { splitIdentifiers } from './split-identifiers.ts'
import { type ManyToolWords, TextIndex, type ToolWords, type WordSource } from './text-index.ts'
import { createTokenizer } from './tokenize.ts'
import { type FieldName, fieldNames } from './tool-fields.ts'
import { instantiate, type WasmMemory } from './wasm.ts'

type ModelField = 'name' | 'context' | 'description' | 'paramNames' | 'paramTexts'

/** The header of an encoder file. */
export interface EncoderHeader {
  readonly dim: number
  readonly words: number
  readonly fields: Readonly<Record<ModelField, number>>
}

/** The contents of an encoder file after its header. */
export interface EncoderParts {
  /** One word per line. */
  readonly text: Uint8Array
  /**
   * Reads the next bytes: the scales of all words with their weights for queries and for tools, 32-bit numbers; then their
   * rows.
   */
  readonly fill: (bytes: Uint8Array) => void
}

/** kernels/vectors.ts. */
interface Kernel {
  readonly memory: WasmMemory
  readonly fieldOf: { readonly value: number }
  readonly fieldWeights: { readonly value: number }
  open(dim: number, words: number, textBytes: number): void
  rowsAt(): number
  numbersAt(): number
  scaleWeights(words: number): void
  sumAt(): number
  wordsAt(bytes: number): number
  indexWords(bytes: number, words: number): void
  lettersAt(bytes: number): number
  codesAt(count: number): number
  findRows(first: number, count: number): void
  sumQuery(count: number): number
  sumTool(count: number): number
  sumTools(tools: number): number
}

const modelFields: readonly ModelField[] = ['name', 'context', 'description', 'paramNames', 'paramTexts']
const fieldOf: Readonly<Record<FieldName, ModelField>> = {
  name: 'name',
  namespace: 'context',
  category: 'context',
  tags: 'context',
  description: 'description',
  paramNames: 'paramNames',
  paramTexts: 'paramTexts',
}
// The step size of kernels/vectors.ts.
const cellsAtOnce = 32
// The cache limit for words of tools that are passed without them.
const maxOwnWords = 50_000

/** A word is a row of 8-bit numbers with a scale, one weight for queries and one for tools. */
export class WordEncoder implements Embedder {
  readonly dim: number
  readonly #kernel = instantiate<Kernel>(vectorsBinary)
  /** The source whose words have rows, and the number of these words. */
  #source: WordSource | undefined
  #known = 0
  #own: TextIndex | undefined

  constructor(header: EncoderHeader, { text, fill }: EncoderParts) {
    const { dim, words, fields } = header
    if (dim % cellsAtOnce !== 0)
      throw new Error(`the rows of an encoder must have a multiple of ${cellsAtOnce} numbers, not ${dim}`)
    this.dim = dim
    const kernel = this.#kernel
    kernel.open(dim, words, text.length)
    const wordsAt = kernel.wordsAt(text.length)
    new Uint8Array(kernel.memory.buffer, wordsAt, text.length).set(text)
    kernel.indexWords(text.length, words)
    const { buffer } = kernel.memory
    fill(new Uint8Array(buffer, kernel.numbersAt(), words * 12))
    kernel.scaleWeights(words)
    fill(new Uint8Array(buffer, kernel.rowsAt(), words * dim))
    const fieldIndexes = fieldNames.map((name) => modelFields.indexOf(fieldOf[name]))
    new Int32Array(buffer, kernel.fieldOf.value, fieldIndexes.length).set(fieldIndexes)
    new Float32Array(buffer, kernel.fieldWeights.value, modelFields.length).set(modelFields.map((name) => fields[name]))
  }

  embedQuery(text: string): Float32Array | undefined {
    const words = splitIdentifiers(text).map((word) => Buffer.from(word))
    let end = 0
    this.#putWords(
      Buffer.concat(words),
      Int32Array.from(words, (word) => (end += word.length)),
    )
    return this.#kernel.sumQuery(words.length) ? this.#sum() : undefined
  }

  /** The sum over the fields, each by its weight and the root of its length. */
  embedTool(tool: SearchableTool, words = this.#readOwn(tool)): Float32Array | undefined {
    this.#learn(words.source)
    this.#putCodes(words.codes)
    return this.#kernel.sumTool(words.codes.length) ? this.#sum() : undefined
  }

  embedTools({ source, codes, tools }: ManyToolWords): Int8Array {
    this.#learn(source)
    this.#putCodes(codes)
    const at = this.#kernel.sumTools(tools)
    return new Int8Array(this.#kernel.memory.buffer, at, tools * this.dim)
  }

  #readOwn(tool: SearchableTool): ToolWords {
    if (this.#own === undefined || this.#own.wordCount > maxOwnWords) this.#own = new TextIndex(createTokenizer())
    return this.#own.read(tool)
  }

  #putWords(letters: Uint8Array, ends: Int32Array): void {
    const at = this.#kernel.lettersAt(letters.length)
    this.#putCodes(ends)
    new Uint8Array(this.#kernel.memory.buffer, at, letters.length).set(letters)
  }

  #putCodes(codes: Int32Array): void {
    const at = this.#kernel.codesAt(codes.length)
    new Int32Array(this.#kernel.memory.buffer, at, codes.length).set(codes)
  }

  #sum(): Float32Array {
    return new Float32Array(this.#kernel.memory.buffer, this.#kernel.sumAt(), this.dim)
  }

  /** Finds the rows of new words. */
  #learn(source: WordSource): void {
    if (this.#source !== source) {
      this.#source = source
      this.#known = 0
    }
    const { wordCount } = source
    if (this.#known === wordCount) return
    const { letters, ends } = source.wordsFrom(this.#known)
    this.#putWords(letters, ends)
    this.#kernel.findRows(this.#known, ends.length)
    this.#known = wordCount
  }
}
