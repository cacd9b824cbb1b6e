import { expect, it } from 'vitest'
import { findSettingProblem, labelOf, readSettings, toEvalInput, writeSettings } from './settings.ts'

it('keeps settings in a URL, and leaves out defaults and unknown ones', () => {
  const settings = readSettings('mode=bm25&limit=5&tag=a%26b&other=1&minFit=')
  expect(settings).toEqual({ mode: 'bm25', limit: '5', tag: 'a&b' })
  expect(readSettings(writeSettings(settings))).toEqual(settings)
  expect(writeSettings({ namespace: ' ' })).toBe('')
})

it('is what the server reads, without values that are none', () => {
  const all = { mode: 'bm25', minScore: '0.2', minFit: '0', limit: '3', tag: 'a', executor: 'http', category: 'ops' }
  expect(toEvalInput(all)).toEqual({
    mode: 'bm25',
    minScore: 0.2,
    minFit: 0,
    limit: 3,
    tags: ['a'],
    executor: ['http'],
    category: 'ops',
  })
  expect(toEvalInput({ mode: 'x', executor: 'perl' })).toEqual({})
})

it('names the first wrong value, and what differs between two sides', () => {
  expect(findSettingProblem({ minScore: '2' })).toBe('Minimum score must be a number from 0 to 1.')
  expect(findSettingProblem({ minFit: 'x' })).toBe('Fit threshold must be a number from 0 to 1.')
  expect(findSettingProblem({ limit: '0' })).toBe('Limit must be a whole number from 1 to 100.')
  expect(findSettingProblem({ minScore: '0.5', limit: '10' })).toBeUndefined()
  expect(labelOf({}, { mode: 'bm25' })).toBe('ranking hybrid')
  expect(labelOf({ mode: 'bm25', limit: '5' }, { mode: 'bm25' })).toBe('limit 5')
  expect(labelOf({}, {})).toBe('defaults')
})
