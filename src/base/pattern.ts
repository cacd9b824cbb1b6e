import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import { estimatePatternSize } from './pattern-size.ts'
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

const remembered = new Map<string, Pattern>()

/** Compiles a pattern that matches whole texts; throws a SyntaxError with the reason if it is invalid. */
export const compilePattern = (source: string, budget?: WorkBudget): Pattern => compile(source, 'whole', budget)

/** Compiles a pattern in the syntax of JSON Schema, which matches anywhere in a text; throws a SyntaxError if it is invalid. */
export const compileSearchPattern = (source: string, budget?: WorkBudget): Pattern => compile(source, 'search', budget)

function compile(source: string, syntax: Syntax, budget: WorkBudget | undefined): Pattern {
  const key = `${syntax} ${source}`
  const cached = remembered.get(key)
  const pattern = cached ?? compileAnew(source, syntax, budget)
  remembered.delete(key)
  remembered.set(key, pattern)
  if (remembered.size > patternLimits.remembered) remembered.delete(remembered.keys().next().value ?? '')
  return pattern
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

const shorten = (source: string): string => (source.length > 80 ? `${source.slice(0, 80)}...` : source)
