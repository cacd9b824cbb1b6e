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

/** The tools that have a term, and how much of it: two columns. */
export interface PostingList {
  readonly positions: Int32Array
  readonly weights: Float32Array
}

/** What postings are kept of. */
export type LogName = 'words' | 'names'

/** kernels/text-index.ts. */
interface Kernel {
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
  termsAt(position: number): number
  termsOf(position: number): number
  add(position: number): void
  remove(position: number): void
  codesAt(position: number): number
  codesOf(position: number): number
  lengthOf(position: number): number
  weighPair(position: number, first: number, second: number): number
  logTerms(log: number): number
  logTermRoom(log: number): number
  logEntries(log: number): number
}

const logs: Readonly<Record<LogName, number>> = { words: 0, names: 1 }
const tags = Object.fromEntries(fieldNames.map((name, index) => [name, index << 24])) as Record<FieldName, number>
const textStart = 1 << 27
const saysNothing = -1
const empty: PostingList = { positions: new Int32Array(0), weights: new Float32Array(0) }
// How many numbers the kernel keeps for a term and for a posting.
const termNumbers = 3
const entryNumbers = 3
// A character takes up to three bytes.
const widest = 3

/**
 * The words of all tools and which tools have them, kept in the memory of a kernel that reads a plain text in one walk and makes
 * no strings: that is what makes building an index fast. What is asked for is laid out as columns, and kept until it changes.
 */
export class TextIndex implements WordSource {
  readonly #tokenizer: Tokenizer
  readonly #kernel = instantiate<Kernel>(textIndexBinary)
  readonly #isPlain: boolean
  readonly #ids = new Map<string, number>()
  readonly #columns: Readonly<Record<LogName, Map<number, PostingList>>> = { words: new Map(), names: new Map() }
  /** By position, the last pair whose first word a tool was seen to have. */
  #seen = new Int32Array(64)
  #pairsAsked = 0
  #bytes = Buffer.alloc(0)
  #numbers = new Int32Array(0)
  #named = 0

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
    this.#isPlain = tokenizer.words === splitIdentifiers
    const weights = fieldNames.map((name) => fieldWeights[name])
    new Float32Array(this.#kernel.memory.buffer, this.#kernel.weights.value, weights.length).set(weights)
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

  /** Adds a tool; the weight of all its words. */
  add(position: number, tool: SearchableTool): number {
    this.#read(tool)
    this.#kernel.add(position)
    if (position >= this.#seen.length) this.#growSeen(position)
    return this.#kernel.lengthOf(position)
  }

  remove(position: number): void {
    this.#kernel.remove(position)
    for (const columns of Object.values(this.#columns)) columns.clear()
  }

  wordsOf(position: number): ToolWords {
    return { source: this, codes: this.#view(this.#kernel.codesAt(position), this.#kernel.codesOf(position)) }
  }

  /** The terms of the name of a tool, each once. */
  nameOf(position: number): readonly number[] {
    const terms = new Set<number>()
    for (const code of this.#view(this.#kernel.termsAt(position), this.#kernel.termsOf(position))) {
      if (((code >> 24) & 7) !== 0) break
      terms.add(code & 0xffffff)
    }
    return [...terms]
  }

  /** All terms. */
  terms(): Iterable<string> {
    return this.#ids.keys()
  }

  termOf(term: string): number | undefined {
    return this.#ids.get(term)
  }

  /** How many tools have a term. */
  sizeOf(log: LogName, term: number): number {
    const number = logs[log]
    if (term >= this.#kernel.logTermRoom(number)) return 0
    return this.#ints()[(this.#kernel.logTerms(number) >> 2) + term * termNumbers + 1] as number
  }

  postings(log: LogName, term: number): PostingList {
    const size = this.sizeOf(log, term)
    if (size === 0) return empty
    const known = this.#columns[log].get(term)
    // Adding makes a list longer; removing has thrown it away.
    if (known !== undefined && known.positions.length === size) return known
    const list = this.#layOut(logs[log], term, size)
    this.#columns[log].set(term, list)
    return list
  }

  /** The tools that have two terms next to each other. Only tools with both are looked at. */
  pairPostings(first: number, second: number): PostingList {
    const [one, other] = [this.postings('words', first).positions, this.postings('words', second).positions]
    const pair = ++this.#pairsAsked
    const [seen, { weighPair }] = [this.#seen, this.#kernel]
    for (let index = 0; index < one.length; index++) seen[one[index] as number] = pair
    const positions: number[] = []
    const weights: number[] = []
    for (let index = 0; index < other.length; index++) {
      const position = other[index] as number
      if (seen[position] !== pair) continue
      const weight = weighPair(position, first, second)
      if (weight === 0) continue
      positions.push(position)
      weights.push(weight)
    }
    return { positions: Int32Array.from(positions), weights: Float32Array.from(weights) }
  }

  #growSeen(position: number): void {
    const seen = new Int32Array(Math.max(position + 1, this.#seen.length * 2))
    seen.set(this.#seen)
    this.#seen = seen
  }

  #layOut(log: number, term: number, size: number): PostingList {
    const numbers = this.#ints()
    const floats = new Float32Array(numbers.buffer)
    const entries = this.#kernel.logEntries(log) >> 2
    const list = { positions: new Int32Array(size), weights: new Float32Array(size) }
    let entry = (numbers[(this.#kernel.logTerms(log) >> 2) + term * termNumbers] as number) - 1
    for (let index = 0; index < size; index++) {
      const at = entries + entry * entryNumbers
      list.positions[index] = numbers[at] as number
      list.weights[index] = floats[at + 1] as number
      entry = numbers[at + 2] as number
    }
    return list
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

  #ints(): Int32Array {
    const { buffer } = this.#kernel.memory
    if (this.#numbers.buffer !== buffer) this.#numbers = new Int32Array(buffer)
    return this.#numbers
  }

  #view(start: number, count: number): Int32Array {
    return new Int32Array(this.#kernel.memory.buffer, start, count)
  }
}
