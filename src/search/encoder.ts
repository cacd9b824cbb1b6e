import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { SearchableTool } from '../contract/search.ts'
import { vectorsBinary } from './kernels.ts'
import { type ManyToolWords, TextIndex, type ToolWords, type WordSource } from './text-index.ts'
import { createTokenizer, splitIdentifiers, stopWords } from './tokenize.ts'
import { type FieldName, fieldNames } from './tool-fields.ts'
import { instantiate, type WasmMemory } from './wasm.ts'

/** Converts texts to vectors whose cosine is their similarity in meaning. */
export interface Embedder {
  readonly dim: number
  /** Set for the encoder of the package, to whose cosines confidence is calibrated. */
  readonly isBuiltIn?: true
  /** Unit vectors, valid until the next call; undefined for a text without a known word. */
  embedQuery(text: string): Float32Array | undefined
  /** Callers that have read the words of a tool already can pass them. */
  embedTool(tool: SearchableTool, words?: ToolWords): Float32Array | undefined
  /** Many at once, if that is faster: rows in the format of `VectorTable`, zeros for a tool without a known word. */
  embedTools?(words: ManyToolWords): Int8Array
  /**
   * For each tool the share of a text that its words are near to, then the share of each of `modelFields` that the words of the
   * text are near to; undefined for a text without a known word.
   */
  matchTools?(text: string, tools: Iterable<ToolWords>): readonly Float32Array[] | undefined
  /** Words that mean about the same. */
  nearWords?(word: string): readonly NearWord[]
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

type ModelField = 'name' | 'context' | 'description' | 'paramNames' | 'paramTexts'

/** The header of an encoder file. */
interface EncoderHeader {
  readonly dim: number
  readonly words: number
  readonly fields: Readonly<Record<ModelField, number>>
  /** The number of pairs of near words. */
  readonly near?: number
}

/** The contents of an encoder file after its header. */
interface EncoderParts {
  /** One word per line. */
  readonly text: Buffer
  /**
   * Reads the next bytes: the scales of all words with their weights for queries and for tools, 32-bit numbers; then their
   * rows, and the thesaurus.
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
  rowOfWord(length: number): number
  openMatches(count: number): number
  matchTool(count: number): number
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
class WordEncoder implements Embedder {
  readonly isBuiltIn = true
  readonly dim: number
  readonly #kernel = instantiate<Kernel>(vectorsBinary)
  /** The source whose words have rows, and the number of these words. */
  #source: WordSource | undefined
  #known = 0
  #own: TextIndex | undefined
  readonly #thesaurus: Thesaurus

  constructor(header: EncoderHeader, { text, fill }: EncoderParts) {
    const { dim, words, fields, near = 0 } = header
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
    this.#thesaurus = new Thesaurus(text, { words: near === 0 ? 0 : words, near }, fill)
    const fieldIndexes = fieldNames.map((name) => modelFields.indexOf(fieldOf[name]))
    new Int32Array(buffer, kernel.fieldOf.value, fieldIndexes.length).set(fieldIndexes)
    new Float32Array(buffer, kernel.fieldWeights.value, modelFields.length).set(modelFields.map((name) => fields[name]))
  }

  embedQuery(text: string): Float32Array | undefined {
    return this.#kernel.sumQuery(this.#putText(splitIdentifiers(text))) ? this.#sum() : undefined
  }

  matchTools(text: string, tools: Iterable<ToolWords>): readonly Float32Array[] | undefined {
    const words = splitIdentifiers(text).filter((word) => !stopWords.has(word))
    if (!this.#kernel.openMatches(this.#putText(words))) return undefined
    return Array.from(tools, ({ source, codes }) => {
      this.#learn(source)
      this.#putCodes(codes)
      const at = this.#kernel.matchTool(codes.length)
      return new Float32Array(this.#kernel.memory.buffer, at, modelFields.length + 1).slice()
    })
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

  nearWords(word: string): readonly NearWord[] {
    return this.#thesaurus.near(this.#kernel.rowOfWord(this.#putText([word]) && Buffer.byteLength(word)))
  }

  #readOwn(tool: SearchableTool): ToolWords {
    if (this.#own === undefined || this.#own.wordCount > maxOwnWords) this.#own = new TextIndex(createTokenizer())
    return this.#own.read(tool)
  }

  #putText(words: readonly string[]): number {
    const bytes = words.map((word) => Buffer.from(word))
    let end = 0
    this.#putWords(
      Buffer.concat(bytes),
      Int32Array.from(bytes, (word) => (end += word.length)),
    )
    return words.length
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

/** A word near another one, with the cosine of their vectors. */
export interface NearWord {
  readonly word: string
  readonly cosine: number
}

/** The nearest words of each word of an encoder, computed beforehand. */
export class Thesaurus {
  /** One word per line, and the start of each. */
  readonly #words: Buffer
  #starts: Uint32Array | undefined
  /** For each word the end of its neighbors, their numbers and their cosines. */
  readonly #ends: Uint32Array
  readonly #rows: Uint16Array
  readonly #cosines: Uint8Array

  /** Reads the next bytes of a file, in the order of the fields. */
  constructor(words: Uint8Array, size: { words: number; near: number }, fill: (bytes: Uint8Array) => void) {
    this.#words = Buffer.from(words.buffer, words.byteOffset, words.byteLength)
    const read = <T extends Uint8Array | Uint16Array | Uint32Array>(array: T): T => {
      fill(new Uint8Array(array.buffer))
      return array
    }
    this.#ends = read(new Uint32Array(size.words))
    this.#rows = read(new Uint16Array(size.near))
    this.#cosines = read(new Uint8Array(size.near))
  }

  /** The neighbors of a word by its number; none for -1. */
  near(number: number): readonly NearWord[] {
    const [start, end] = [this.#ends[number - 1] ?? 0, this.#ends[number] ?? 0]
    return Array.from(this.#rows.subarray(start, end), (other, at) => ({
      word: this.#wordOf(other),
      cosine: (this.#cosines[start + at] as number) / 255,
    }))
  }

  #wordOf(number: number): string {
    this.#starts ??= startsOf(this.#words)
    const next = this.#starts[number + 1] ?? this.#words.length + 1
    return this.#words.toString('utf8', this.#starts[number], next - 1)
  }
}

function startsOf(words: Buffer): Uint32Array {
  const starts = [0]
  for (let at = words.indexOf(newline); at >= 0; at = words.indexOf(newline, at + 1)) starts.push(at + 1)
  return Uint32Array.from(starts)
}

const newline = 10
