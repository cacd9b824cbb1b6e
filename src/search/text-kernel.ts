import type { WasmMemory } from './wasm.ts'

/** One query: started after `refresh`, then raised by its terms; see kernels/scores.ts. */
export interface Query {
  refresh(k1: number, b: number): void
  startQuery(): void
  idf(count: number): number
  addTerm(term: number, weight: number): void
  /** Returns the number of tools with the pair; 0 also where the query is too expensive for more pairs. */
  addPair(first: number, second: number, weight: number): number
  addNameTerm(term: number): void
  finishNames(worth: number): void
  coverageOf(position: number, term: number): number
  scoreOf(position: number, term: number, weight: number): number
  scoreOfPair(position: number, first: number, second: number, count: number, weight: number): number
}

/** kernels/text-index.ts. */
export interface TextKernel extends Query {
  readonly memory: WasmMemory
  readonly weights: { readonly value: number }
  textAt(bytes: number): number
  headsAt(count: number): number
  readPlain(): void
  readBatch(heads: number): number
  again(): number
  resume(): number
  classesAt(): number
  getUnits(): number
  wordAt(bytes: number): number
  readText(start: number, length: number, tag: number, mark: number): number
  readWord(length: number, tag: number): void
  readWords(length: number, tag: number, mark: number): void
  clear(): void
  useStems(): void
  getCodes(): number
  getCodeCount(): number
  getWordCount(): number
  letterStart(word: number): number
  lettersAt(): number
  endsFrom(word: number): number
  getNamed(): number
  setTerm(term: number): void
  internTerm(length: number): number
  findTerm(length: number): number
  getTermCount(): number
  termStart(term: number): number
  termLettersAt(): number
  readSpelling(start: number, length: number): number
  startSpelling(): void
  spellWord(length: number): void
  findNames(): number
  namesAt(): number
  remove(position: number): void
  codesAt(position: number): number
  codesOf(position: number): number
  gather(from: number, to: number): number
  getAdded(): number
  getToolCount(): number
  sizeOf(term: number): number
  scoresAt(): number
}
