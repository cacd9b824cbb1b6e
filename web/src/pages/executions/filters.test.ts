import { expect, it } from 'vitest'
import { toQuery } from './filters.ts'

it('reads filters from the query of a URL, and ignores values that are none', () => {
  const now = Date.parse('2026-01-31T12:00:00Z')
  const search = { tool: 'git_log', status: 'FAILED,NONE,TIMEOUT', period: '24h', purpose: 'x', caller: '', other: 'x' }
  expect(toQuery(search, now)).toEqual({
    tool: 'git_log',
    status: ['FAILED', 'TIMEOUT'],
    since: '2026-01-30T12:00:00.000Z',
  })
  expect(toQuery({ period: 'constructor' })).toEqual({})
})
