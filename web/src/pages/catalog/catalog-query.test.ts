import { expect, it } from 'vitest'
import { isFiltered, toSearch } from './catalog-query.ts'

it('reads the filters of a URL, and leaves out what is no value', () => {
  expect(
    toSearch({ q: 'git', source: 'cli', tag: 'a', executor: 'http', status: 'all', mode: 'bm25', why: '1' }),
  ).toMatchObject({
    query: 'git',
    source: ['cli'],
    tags: ['a'],
    executor: ['http'],
    status: [],
    mode: 'bm25',
    explain: true,
  })
  const odd = toSearch({ status: 'NONE', mode: 'x', source: '' })
  expect(odd).toMatchObject({ query: '', source: [], tags: [], category: null, explain: false })
  expect(odd).not.toHaveProperty('mode')
  expect(odd).not.toHaveProperty('status')
  expect(isFiltered({ q: 'x', view: 'cards' })).toBe(false)
  expect(isFiltered({ status: 'DRAFT' })).toBe(true)
})
