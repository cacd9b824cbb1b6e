import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { compilePattern, compileSearchPattern, estimatePatternSize, patternLimits } from './pattern.ts'
import { OutOfBudget, WorkBudget } from './work-budget.ts'

const { pattern } = fc.letrec<{ pattern: string; piece: string; atom: string }>((tie) => ({
  pattern: fc.array(tie('piece'), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')),
  piece: fc
    .tuple(tie('atom'), fc.constantFrom('', '', '', '*', '+?', '?', '{3}', '{2,9}', '{0,20}', '{4,}'))
    .map((parts) => parts.join('')),
  atom: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'p' },
    fc.constantFrom('a', '.', '\\d', '\\pL', '\\x{41}', '[a-z_]', '[^]x]', '[[:alpha:]0]', '\\Qa*b\\E', '^', 'é'),
    fc
      .tuple(
        fc.constantFrom('(', '(?:', '(?i:', '(?P<n>'),
        tie('pattern'),
        fc.constantFrom('', '|b', '|'),
        fc.constant(')'),
      )
      .map((parts) => parts.join('')),
  ),
}))

describe('the size of a pattern', () => {
  it('is estimated as at least half of its program, and not far beyond', () => {
    fc.assert(
      fc.property(pattern, (source) => {
        let size: number
        try {
          size = RE2JS.compile(source).programSize()
        } catch {
          return
        }
        expect(estimatePatternSize(source)).toBeGreaterThanOrEqual(size / 2)
        expect(estimatePatternSize(source)).toBeLessThanOrEqual(20 * size + 20)
      }),
      { numRuns: 300, seed: 5 },
    )
  })

  it('is bounded before the pattern is compiled', () => {
    const huge = `(?:${'abcdefghij'.repeat(50)}){1000}`
    expect(estimatePatternSize(huge)).toBeGreaterThan(patternLimits.size)
    expect(() => compilePattern(huge)).toThrow(/expands to about \d+ instructions, 20000 are allowed/)
  })

  it('spends steps for compiling, and size times length for matching, before either', () => {
    const budget = new WorkBudget(300_000)
    const costly = compileSearchPattern('(?:a|aa|aaa|aaaa){1,100}$', budget)
    const before = budget.spent
    expect(before).toBeGreaterThan(10_000)
    costly.test('aaab', budget)
    expect(budget.spent - before).toBeGreaterThan(4 * 500)
    expect(() => costly.test('a'.repeat(30_000), budget)).toThrow(OutOfBudget)
    expect(() => costly.test('a'.repeat(30_000), budget)).toThrow(/the pattern '\(\?:a\|aa\|aaa\|aaaa\)\{1,100\}\$'/)
  })
})
