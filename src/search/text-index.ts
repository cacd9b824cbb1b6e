import type { SearchableTool } from '../contract/search.ts'
import { textIndexBinary } from './kernels.ts'
import { splitIdentifiers } from './split-identifiers.ts'
import type { Tokenizer } from './tokenize.ts'
import { type FieldName, fieldNames, fieldWeights, visitFields } from './tool-fields.ts'
import { instantiate, type WasmMemory } from './wasm.ts'

/** The words of a tool, read once for every index that wants them; valid until the next tool is read. */
export interface ToolWords {
  readonly source: WordSource
  /** For each word: bits 0-23 its number, bits 24-26 its field, bit 27 set where a text begins. */
  readonly codes: Int32Array
}

/** Words by number; numbers are given once and never change. */
export interface WordSource {
  readonly wordCount: number
  /** The letters of the words from a number on, one after the other, and where each word ends. */
  wordsFrom(number: number): { readonly letters: Uint8Array; readonly ends: Int32Array }
}

/** One query: after `refresh` it is started, then raised by its terms; see kernels/scores.ts. */
export interface Query {
  refresh(k1: number, b: number): void
  startQuery(): void
  idf(count: number): number
  addTerm(term: number, weight: number): void
  addPair(first: number, second: number, weight: number): void
  addNameTerm(term: number): void
  finishNames(worth: number): void
  coverageOf(position: number, term: number): number
  scoreOf(position: number, term: number, weight: number): number
  scoreOfPair(position: number, first: number, second: number, weight: number): number
}

/** kernels/text-index.ts. */
interface Kernel extends Query {
  readonly memory: WasmMemory
  readonly weights: { readonly value: number }
  clear(): void
  textAt(length: number): number
  readText(length: number, tag: number, mark: number): number
  readWord(length: number, tag: number): void
  getCodes(): number
  getCodeCount(): number
  getWordCount(): number
  letterStart(word: number): number
  lettersAt(): number
  setTerm(word: number, term: number): void
  add(position: number): void
  remove(position: number): void
  codesAt(position: number): number
  codesOf(position: number): number
  getAdded(): number
  sizeOf(term: number): number
  scoresAt(): number
}

const tags = Object.fromEntries(fieldNames.map((name, index) => [name, index << 24])) as Record<FieldName, number>
const textStart = 1 << 27
const saysNothing = -1
// A character takes up to three bytes.
const widest = 3

/**
 * The words of all tools and which tools have them, kept in the memory of a kernel that reads a plain text in one walk and makes
 * no strings. A query is scored there as well.
 */
export class TextIndex implements WordSource {
  readonly #tokenizer: Tokenizer
  readonly #kernel = instantiate<Kernel>(textIndexBinary)
  readonly #isPlain: boolean
  readonly #ids = new Map<string, number>()
  #bytes = Buffer.alloc(0)
  #named = 0

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
    this.#isPlain = tokenizer.words === splitIdentifiers
    const weights = fieldNames.map((name) => fieldWeights[name])
    new Float32Array(this.#kernel.memory.buffer, this.#kernel.weights.value, weights.length).set(weights)
  }

  /** How many tools there are. */
  get size(): number {
    return this.#kernel.getAdded()
  }

  get wordCount(): number {
    return this.#kernel.getWordCount()
  }

  wordsFrom(number: number) {
    const { wordCount } = this
    const at = this.#kernel.lettersAt()
    const start = this.#kernel.letterStart(number)
    const ends = Int32Array.from(
      { length: wordCount - number },
      (_, index) => this.#kernel.letterStart(number + index + 1) - start,
    )
    return { letters: this.#memory().subarray(at + start, at + this.#kernel.letterStart(wordCount)), ends }
  }

  /** The words of a tool that need not be kept. */
  read(tool: SearchableTool): ToolWords {
    this.#read(tool)
    return { source: this, codes: this.#view(this.#kernel.getCodes(), this.#kernel.getCodeCount()) }
  }

  add(position: number, tool: SearchableTool): void {
    this.#read(tool)
    this.#kernel.add(position)
  }

  remove(position: number): void {
    this.#kernel.remove(position)
  }

  wordsOf(position: number): ToolWords {
    return { source: this, codes: this.#view(this.#kernel.codesAt(position), this.#kernel.codesOf(position)) }
  }

  /** All terms. */
  terms(): Iterable<string> {
    return this.#ids.keys()
  }

  termOf(term: string): number | undefined {
    return this.#ids.get(term)
  }

  /** How many tools have a term. */
  sizeOf(term: number): number {
    return this.#kernel.sizeOf(term)
  }

  /** The scores of a query are worked out in the kernel's own columns, from `startQuery` on. */
  get query(): Query {
    return this.#kernel
  }

  /** By position, until the next query or change. */
  scores(count: number): Float64Array {
    return new Float64Array(this.#kernel.memory.buffer, this.#kernel.scoresAt(), count)
  }

  #read(tool: SearchableTool): void {
    this.#kernel.clear()
    visitFields(tool, this.#readText)
    const count = this.#kernel.getWordCount()
    for (; this.#named < count; this.#named++) {
      const term = this.#tokenizer.term(this.#wordOf(this.#named))
      this.#kernel.setTerm(this.#named, term === undefined ? saysNothing : this.#idOf(term))
    }
  }

  #wordOf(number: number): string {
    const at = this.#kernel.lettersAt()
    const { letterStart } = this.#kernel
    return this.#memory().toString('utf8', at + letterStart(number), at + letterStart(number + 1))
  }

  readonly #readText = (field: FieldName, text: string): void => {
    const tag = tags[field]
    if (this.#isPlain && this.#kernel.readText(this.#put(text), tag, textStart)) return
    let mark = textStart
    for (const word of this.#tokenizer.words(text)) {
      this.#kernel.readWord(this.#put(word), tag | mark)
      mark = 0
    }
  }

  #put(text: string): number {
    const room = text.length * widest
    const at = this.#kernel.textAt(room)
    return this.#memory().write(text, at, room, 'utf8')
  }

  #idOf(term: string): number {
    const known = this.#ids.get(term)
    if (known !== undefined) return known
    const id = this.#ids.size
    this.#ids.set(term, id)
    return id
  }

  /** The memory moves when it grows. */
  #memory(): Buffer {
    const { buffer } = this.#kernel.memory
    if (this.#bytes.buffer !== buffer) this.#bytes = Buffer.from(buffer)
    return this.#bytes
  }

  #view(start: number, count: number): Int32Array {
    return new Int32Array(this.#kernel.memory.buffer, start, count)
  }
}
