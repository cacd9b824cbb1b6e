import type { SearchableTool } from '../contract/search.ts'
import { textIndexBinary } from './kernels.ts'
import type { Query, TextKernel } from './text-kernel.ts'
import { kindAt, stopWords, type Tokenizer } from './tokenize.ts'
import { fieldNames, fieldWeights, visitFields } from './tool-fields.ts'
import { instantiate } from './wasm.ts'

/** The words of a tool, read once for all indexes; valid until the next tool is read. */
export interface ToolWords {
  readonly source: WordSource
  /** For each word: bits 0-23 its number, bits 24-26 its field, bit 27 set at the start of a text. */
  readonly codes: Int32Array
}

/** The words of many tools. */
export interface ManyToolWords {
  readonly source: WordSource
  /** For each tool the end of its codes, then the codes of all. */
  readonly codes: Int32Array
  readonly tools: number
}

/** Words by number; numbers are assigned once and never change. */
export interface WordSource {
  readonly wordCount: number
  /** The bytes of the words from a number on, concatenated, and the end of each word. */
  wordsFrom(number: number): { readonly letters: Uint8Array; readonly ends: Int32Array }
}

// Besides the searched fields, the id is indexed by its characters only; -1 ends the texts of a tool.
const [idField, endOfTool] = [7, -1]
const textStart = 1 << 27
const isVacuous = -1
const lineUp = (words: Iterable<string>): string => Array.from(words, (word) => `${word} `).join('')
// Flags beside the class of a character.
const isKnown = 128
// A character takes up to three bytes.
const widest = 3
// Tools are passed to the kernel in batches of at least this length of text.
const batchLetters = 20_000

/**
 * The words of all tools and their postings, in the memory of a kernel that reads a plain text in one pass without creating
 * strings. Queries are scored there as well. Texts are buffered when a tool is added, and read with the next query.
 */
export class TextIndex implements WordSource {
  readonly #tokenizer: Tokenizer
  readonly #kernel = instantiate<TextKernel>(textIndexBinary)
  readonly #terms: string[] = []
  #bytes = Buffer.alloc(0)
  #texts = ''
  #heads = new Int32Array(1 << 12)
  #headsEnd = 0

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
    const weights = fieldNames.map((name) => fieldWeights[name])
    new Float32Array(this.#kernel.memory.buffer, this.#kernel.weights.value, weights.length).set(weights)
    if (!tokenizer.isBuiltIn) return
    this.#kernel.readPlain()
    this.#kernel.readWords(this.#put(lineUp(stopWords)), 0, 0)
    this.#kernel.useStems()
  }

  /** The number of tools. */
  get size(): number {
    return this.#current().getAdded()
  }

  get wordCount(): number {
    return this.#current().getWordCount()
  }

  wordsFrom(number: number): ReturnType<WordSource['wordsFrom']> {
    const kernel = this.#current()
    const ends = this.#view(kernel.endsFrom(number), kernel.getWordCount() - number)
    const at = kernel.lettersAt()
    const letters = this.#memory().subarray(
      at + kernel.letterStart(number),
      at + kernel.letterStart(kernel.getWordCount()),
    )
    return { letters, ends }
  }

  /** The words of a tool that is not stored. */
  read(tool: SearchableTool): ToolWords {
    const kernel = this.#current()
    visitFields(tool, this.#take)
    this.#readTaken()
    return { source: this, codes: this.#view(kernel.getCodes(), kernel.getCodeCount()) }
  }

  add(position: number, tool: SearchableTool): void {
    const [texts, headsEnd] = [this.#texts, this.#headsEnd]
    try {
      this.#take(idField, tool.id)
      visitFields(tool, this.#take)
    } catch (error) {
      // The partial text of an invalid tool must not become part of the next.
      this.#texts = texts
      this.#headsEnd = headsEnd
      throw error
    }
    this.#pushHead(endOfTool, position)
    if (this.#texts.length > batchLetters) this.#readTaken()
  }

  remove(position: number): void {
    this.#current().remove(position)
  }

  wordsOf(position: number): ToolWords {
    const kernel = this.#current()
    return { source: this, codes: this.#view(kernel.codesAt(position), kernel.codesOf(position)) }
  }

  /** The words of the tools from one position to another, which is at most `end`. */
  wordsBetween(from: number, to: number): ManyToolWords {
    const at = this.#current().gather(from, to)
    const tools = to - from
    const count = tools === 0 ? 0 : (this.#view(at, tools)[tools - 1] as number)
    return { source: this, codes: this.#view(at, tools + count), tools }
  }

  /** One more than the highest position. */
  get end(): number {
    return this.#current().getToolCount()
  }

  /** All terms, by number. */
  terms(): readonly string[] {
    const kernel = this.#current()
    const count = kernel.getTermCount()
    const at = kernel.termLettersAt()
    for (let term = this.#terms.length; term < count; term++)
      this.#terms.push(this.#memory().toString('utf8', at + kernel.termStart(term), at + kernel.termStart(term + 1)))
    return this.#terms
  }

  termOf(term: string): number | undefined {
    const found = this.#current().findTerm(this.#put(term))
    return found < 0 ? undefined : found
  }

  /** The number of tools with a term. */
  sizeOf(term: number): number {
    return this.#current().sizeOf(term)
  }

  /**
   * Candidate positions of tools whose name, id, or namespace and name have the characters of a query; may include a few
   * others.
   */
  findNames(query: string): readonly number[] {
    const kernel = this.#current()
    const length = this.#put(query)
    if (!this.#tokenizer.isBuiltIn || !kernel.readSpelling(kernel.wordAt(length), length)) this.#spell(query)
    const count = kernel.findNames()
    return Array.from(this.#view(kernel.namesAt(), count))
  }

  /** The scores of a query are computed in the kernel's own columns, from `startQuery` on. */
  get query(): Query {
    return this.#current()
  }

  /** By position, until the next query or change. */
  scores(count: number): Float64Array {
    return new Float64Array(this.#kernel.memory.buffer, this.#kernel.scoresAt(), count)
  }

  /** The kernel, after reading all buffered texts. */
  #current(): TextKernel {
    if (this.#headsEnd > 0) this.#readTaken()
    return this.#kernel
  }

  readonly #take = (field: number, text: string): void => {
    // Half a character at the end must not combine with the next text.
    const whole = (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800 ? `${text} ` : text
    this.#pushHead(field, whole.length)
    this.#texts += whole
  }

  #pushHead(field: number, value: number): void {
    const [heads, at] = [this.#heads, this.#headsEnd]
    if (at === heads.length) {
      this.#heads = new Int32Array(at * 2)
      this.#heads.set(heads)
    }
    this.#heads[at] = field
    this.#heads[at + 1] = value
    this.#headsEnd = at + 2
  }

  #readTaken(): void {
    const [kernel, texts, heads] = [this.#kernel, this.#texts, this.#heads.subarray(0, this.#headsEnd)]
    this.#texts = ''
    this.#headsEnd = 0
    const room = texts.length * widest
    const [at, headsAt] = [kernel.textAt(room), kernel.headsAt(heads.length / 2)]
    this.#memory().write(texts, at, room, 'utf8')
    this.#view(headsAt, heads.length).set(heads)
    for (let stop = kernel.readBatch(heads.length / 2); stop >= 0; ) {
      const [field, length] = [heads[stop * 2] as number, heads[stop * 2 + 1] as number]
      const start = kernel.getUnits()
      const text = texts.slice(start, start + length)
      if (this.#tokenizer.isBuiltIn && this.#teach(text)) stop = kernel.again()
      else {
        this.#split(field, text)
        stop = kernel.resume()
      }
    }
  }

  /** Passes the classes of the characters of a text to the kernel; false if all were known. */
  #teach(text: string): boolean {
    const classes = new Uint8Array(this.#kernel.memory.buffer, this.#kernel.classesAt(), 0x1_0000)
    let isNews = false
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code < 128 || classes[code] !== 0 || (code >= 0xd800 && code <= 0xdfff)) continue
      classes[code] = kindAt(text, index) | isKnown
      isNews = true
    }
    return isNews
  }

  /** Reads a text that the kernel cannot. */
  #split(field: number, text: string): void {
    if (field === idField) {
      this.#spell(text)
      return
    }
    if (this.#tokenizer.isBuiltIn) {
      const words = lineUp(this.#tokenizer.words(text))
      this.#kernel.readWords(this.#put(words), field << 24, textStart)
      return
    }
    let mark = textStart
    for (const word of this.#tokenizer.words(text)) {
      this.#kernel.readWord(this.#put(word), (field << 24) | mark)
      mark = 0
      if (this.#kernel.getNamed() < this.#kernel.getWordCount()) this.#kernel.setTerm(this.#intern(word))
    }
  }

  #spell(text: string): void {
    this.#kernel.startSpelling()
    for (const word of this.#tokenizer.words(text)) this.#kernel.spellWord(this.#put(word))
  }

  #intern(word: string): number {
    const term = this.#tokenizer.term(word)
    return term === undefined ? isVacuous : this.#kernel.internTerm(this.#put(term))
  }

  #put(word: string): number {
    const room = word.length * widest
    const at = this.#kernel.wordAt(room)
    return this.#memory().write(word, at, room, 'utf8')
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
