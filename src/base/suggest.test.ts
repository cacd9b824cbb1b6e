import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withDefaultHint } from '../diagnostics/shape-problems.ts'
import { didYouMean, suggest } from './suggest.ts'
import { suggestionSteps, WorkBudget } from './work-budget.ts'

const tools = ['git_status', 'git_log', 'git_commit', 'docker_ps']

describe('suggest', () => {
  it.each([
    ['git_statsu', 'git_status'],
    ['gitstatus', 'git_status'],
    ['GIT_LOG', 'git_log'],
    ['git-commit', 'git_commit'],
    ['dcoker_ps', 'docker_ps'],
    ['git_commits', 'git_commit'],
  ])('takes %j for %j', (word, expected) => {
    expect(suggest(word, tools)).toBe(expected)
  })

  it.each(['', 'weather', 'git', 'x'.repeat(10_000)])('suggests nothing for %j', (word) => {
    expect(suggest(word, tools)).toBeUndefined()
  })

  it('prefers the nearest, and of equals the first', () => {
    expect(suggest('tag', ['tog', 'tags', 'tug'])).toBe('tog')
    expect(suggest('categry', ['categories', 'category'])).toBe('category')
  })

  it('takes two swapped letters for one mistake', () => {
    expect(suggest('nmae', ['name'])).toBe('name')
    expect(suggest('ab', ['ba'])).toBe('ba')
  })

  it('finds every word again after one letter was changed, lost or added', () => {
    const word = fc.stringMatching(/^[a-z_]{4,20}$/)
    fc.assert(
      fc.property(word, fc.nat(), fc.constantFrom('lost', 'added', 'changed'), (original, at, how) => {
        const place = at % original.length
        const after = original.slice(how === 'added' ? place : place + 1)
        expect(suggest(original.slice(0, place) + (how === 'lost' ? '' : '~') + after, [original])).toBe(original)
      }),
    )
  })
})

describe('didYouMean', () => {
  it('suggests nothing more once its budget is spent', () => {
    const names = Array.from({ length: 200 }, (_, index) => `property_with_a_long_name_${index}`)
    const budget = new WorkBudget(suggestionSteps)
    const words = Array.from({ length: 3000 }, (_, index) => `propertx_with_a_long_name_${index}`)
    const said = words.map((word) => didYouMean(word, names, budget))
    expect(said[0]).toBe(" Did you mean 'property_with_a_long_name_0'?")
    expect(said.filter((text) => text !== '').length).toBeLessThan(50)
    expect(said.at(-1)).toBe('')
  })

  it('is a question, or nothing', () => {
    expect(didYouMean('git_statsu', tools)).toBe(" Did you mean 'git_status'?")
    expect(didYouMean('weather', tools)).toBe('')
  })
})

describe('withSuggestion', () => {
  it('chooses the hint by the kind of a problem, however the message is worded', () => {
    const problem = { severity: 'error', pointer: '/tags', message: 'reworded', kind: 'not-array' } as const
    const { kind: _kind, ...shown } = problem
    expect(withDefaultHint(problem)).toEqual({ ...shown, hint: 'write an array, such as ["a", "b"]' })
    expect(withDefaultHint({ ...shown, hint: 'as it was' })).toEqual({ ...shown, hint: 'as it was' })
  })
})
