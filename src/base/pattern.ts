import { createRequire } from 'node:module'
import type * as Re2 from 're2js'

/** Loaded with the first pattern: most starts have none. */
const loadRe2 = (): typeof Re2 => createRequire(import.meta.url)('re2js')

/** A regular expression that runs in linear time whatever it is given, and always matches the whole text. */
export interface Pattern {
  readonly source: string
  matches(text: string): boolean
}

/** Compiles a pattern; throws a SyntaxError saying what is wrong, look-around and back-references included. */
export function compilePattern(source: string): Pattern {
  try {
    const compiled = loadRe2().RE2JS.compile(source)
    return { source, matches: (text) => compiled.matches(text) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it does not compile'
    throw new SyntaxError(reason, { cause })
  }
}

/** A pattern that is looked for anywhere in a text, as JSON Schema does. */
export interface SearchPattern {
  readonly source: string
  test(text: string): boolean
}

/** Compiles a pattern as JSON Schema writes them; throws a SyntaxError saying what is wrong with it. */
export function compileSearchPattern(source: string): SearchPattern {
  try {
    const { RE2JS } = loadRe2()
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source))
    return { source, test: (text) => compiled.test(text) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it does not compile'
    throw new SyntaxError(reason, { cause })
  }
}
