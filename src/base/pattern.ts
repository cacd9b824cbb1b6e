import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import { BoundedMap } from './bounded-map.ts'
import type { WorkBudget } from './work-budget.ts'

/** Loaded with the first pattern: most starts need none. */
const loadRe2 = (): typeof Re2 => createRequire(import.meta.url)('re2js')

/** Limits of the compiled size; compiling takes steps in proportion. */
export const patternLimits = { size: 20_000, stepsPerInstruction: 100, remembered: 200 } as const

/** A regular expression (RE2): no input makes it take more steps than its size times the length of the text. */
export interface Pattern {
  readonly source: string
  /** Searches for a match; spends the maximum number of steps from the budget before it starts. */
  test(text: string, budget?: WorkBudget): boolean
}

type Syntax = 'whole' | 'search'

const remembered = new BoundedMap<string, Pattern>(patternLimits.remembered)

/** Compiles a pattern that matches whole texts; throws a SyntaxError with the reason if it is invalid. */
export const compilePattern = (source: string, budget?: WorkBudget): Pattern => compile(source, 'whole', budget)

/** Compiles a pattern in the syntax of JSON Schema, which matches anywhere in a text; throws a SyntaxError if it is invalid. */
export const compileSearchPattern = (source: string, budget?: WorkBudget): Pattern => compile(source, 'search', budget)

function compile(source: string, syntax: Syntax, budget: WorkBudget | undefined): Pattern {
  const key = `${syntax} ${source}`
  return remembered.take(key, () => compileAnew(source, syntax, budget))
}

function compileAnew(source: string, syntax: Syntax, budget: WorkBudget | undefined): Pattern {
  const size = estimatePatternSize(source)
  if (size > patternLimits.size) {
    throw new SyntaxError(`it expands to about ${size} instructions, ${patternLimits.size} are allowed`)
  }
  const where = `the pattern '${shorten(source)}'`
  budget?.spend(size * patternLimits.stepsPerInstruction, where)
  try {
    const { RE2JS } = loadRe2()
    const compiled = RE2JS.compile(syntax === 'search' ? RE2JS.translateRegExp(source) : source)
    const instructions = compiled.programSize()
    return {
      source,
      test(text, spent) {
        spent?.spend(instructions * (text.length + 1), where)
        return syntax === 'search' ? compiled.test(text) : compiled.matches(text)
      },
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it does not compile'
    throw new SyntaxError(reason, { cause })
  }
}

/** The reason why a pattern does not compile; undefined where it does. */
export function faultOfPattern(source: string, budget?: WorkBudget): string | undefined {
  try {
    compilePattern(source, budget)
    return undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return error.message
  }
}

const shorten = (source: string): string => (source.length > 80 ? `${source.slice(0, 80)}...` : source)

const quantifier = /^(?:[*+?]|\{(\d+)(,(\d*))?\})[?+]?/

/** An upper bound of the instructions of a compiled regular expression, computed without compiling it. */
export function estimatePatternSize(source: string): number {
  return new Sizer(source).alternatives()
}

class Sizer {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** The size of everything up to the end of the group. */
  alternatives(): number {
    let size = 2
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') size += this.#piece()
    this.#at++
    return size
  }

  #piece(): number {
    let size = this.#atom()
    // Each copy of a repeated atom has a branch beside it.
    for (let copies = this.#copies(); copies !== undefined; copies = this.#copies()) size = (size + 1) * copies
    return size
  }

  #atom(): number {
    const char = this.#source[this.#at++]
    if (char === '(') return this.alternatives()
    if (char === '[') return this.#charClass()
    return char === '\\' ? this.#escape() : 1
  }

  /** A class is one instruction, but each of its members is compared. */
  #charClass(): number {
    let members = 0
    if (this.#source[this.#at] === '^') this.#at++
    do {
      if (this.#source[this.#at] === '\\') {
        this.#at++
        this.#escape()
      } else if (this.#source.startsWith('[:', this.#at)) this.#at = this.#indexAfter(':]')
      else this.#at++
      members++
    } while (this.#at < this.#source.length && this.#source[this.#at] !== ']')
    this.#at++
    return 1 + Math.ceil(members / 8)
  }

  #escape(): number {
    const start = this.#at
    const char = this.#source[this.#at++]
    if (char === 'Q') this.#at = this.#indexAfter('\\E')
    else if ((char === 'p' || char === 'P' || char === 'x') && this.#source[this.#at] === '{')
      this.#at = this.#indexAfter('}')
    return char === 'Q' ? this.#at - start : 1
  }

  #copies(): number | undefined {
    const [text, from, open, to] = quantifier.exec(this.#source.slice(this.#at, this.#at + 20)) ?? []
    if (text === undefined) return undefined
    this.#at += text.length
    if (from === undefined) return 1
    return Math.max(1, Number(from) + (open === undefined ? 0 : 1), Number(to ?? 0))
  }

  #indexAfter(end: string): number {
    const found = this.#source.indexOf(end, this.#at)
    return found < 0 ? this.#source.length : found + end.length
  }
}
