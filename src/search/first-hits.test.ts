import { expect, it } from 'vitest'
import { encoderFile } from '../base/package-info.ts'
import { loadEncoder } from './encoder.ts'
import { clausesOf } from './first-hits.ts'
import { SearchEngine } from './search-engine.ts'

it('splits a request into its clauses', () => {
  expect(clausesOf('download the report and mail it')).toEqual(['download the report ', ' mail it'])
  expect(clausesOf('I have an invoice. Send it to Ann, then archive it.')).toHaveLength(3)
  for (const one of ['mail the report', 'copy and paste', 'and then', '', 'see git.config in the folder'])
    expect(clausesOf(one), one).toEqual([])
  expect(clausesOf('read this file. '.repeat(50))).toHaveLength(8)
})

it('finds the tools of both tasks of a request, not ten variants of the first', () => {
  const encoder = loadEncoder(encoderFile)
  const engine = new SearchEngine(() => encoder)
  for (const kind of ['daily', 'weekly', 'monthly', 'yearly', 'sales', 'error', 'status', 'final', 'short'])
    engine.add({ id: kind, name: `download_${kind}_report`, description: `Downloads the ${kind} report` })
  engine.add({ id: 'mail', name: 'send_message', description: 'Sends a mail to a person' })
  for (const id of ['a', 'b', 'c'])
    engine.add({ id, name: `resize_${id}`, description: 'Changes the size of a picture' })
  const query = 'download the report and mail it'
  const hits = engine.search({ query }).hits.map(({ tool }) => tool.id)
  expect(hits.slice(0, 5)).toContain('mail')
  expect(hits[0]).not.toBe('mail')
  expect(new Set(hits).size).toBe(hits.length)
  const pages = [0, 3, 6].flatMap((offset) =>
    engine.search({ query, offset, limit: 3 }).hits.map(({ tool }) => tool.id),
  )
  expect(pages).toEqual(engine.search({ query, limit: 9 }).hits.map(({ tool }) => tool.id))
})
