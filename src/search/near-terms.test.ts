import { describe, expect, it } from 'vitest'
import { encoderFile } from '../base/package-info.ts'
import { loadEncoder } from './encoder.ts'
import { matchGain } from './first-hits.ts'
import { SearchEngine } from './search-engine.ts'
import { Background } from './semantic-index.ts'
import { TextIndex } from './text-index.ts'
import { createTokenizer } from './tokenize.ts'
import { VectorTable } from './vector-table.ts'

const encoder = loadEncoder(encoderFile)
const toolOf = (name: string, description: string) => ({ id: name, name, description })
const tools = [
  toolOf('remove_record', 'Removes a record'),
  toolOf('add_record', 'Adds a record'),
  toolOf('forecast', 'The weather of tomorrow'),
]

describe('near words', () => {
  it('of the encoder mean about the same, and an unknown word has none', () => {
    expect(encoder.nearWords?.('delete').map(({ word }) => word)).toContain('remove')
    expect(encoder.nearWords?.('qqxyzzy')).toEqual([])
    for (const { cosine } of encoder.nearWords?.('weather') ?? []) expect(cosine).toBeGreaterThanOrEqual(0.39)
  })

  it('of a request count less than its own words, and are explained', () => {
    const engine = new SearchEngine(() => encoder)
    for (const tool of tools) engine.add(tool)
    const scoreOf = (query: string) => {
      const { terms = [] } = engine.explain('remove_record', { query }) ?? {}
      return terms.find(({ term }) => term === 'remov')?.score ?? 0
    }
    expect(scoreOf('delete')).toBeGreaterThan(0)
    expect(scoreOf('remove')).toBeGreaterThan(scoreOf('delete'))
    expect(engine.explain('remove_record', { query: 'delete', mode: 'bm25' })?.terms).toEqual([])
  })
})

it('compares a request with tools word by word, up to 1 for the same words', () => {
  const index = new TextIndex(createTokenizer())
  for (const [position, tool] of tools.entries()) index.add(position, tool)
  const matches = (query: string) => encoder.matchTools?.(query, [index.wordsOf(0)])?.[0]?.[0] ?? 0
  expect(matches('remove record')).toBeCloseTo(1)
  expect(matches('remove record')).toBeGreaterThan(matches('delete record'))
  expect(matches('delete record')).toBeGreaterThan(matches('weather forecast'))
  expect(encoder.matchTools?.('qqxyzzy', [index.wordsOf(0)])).toBeUndefined()
})

it('knows the level of unrelated requests whatever the order of changes', () => {
  const fill = (table: VectorTable, background: Background, order: readonly number[]) => {
    for (const position of order) {
      table.set(position, encoder.embedTool(tools[position] as (typeof tools)[number]))
      background.add(position, table)
    }
  }
  const [one, other] = [new VectorTable(encoder.dim), new VectorTable(encoder.dim)]
  const [first, second] = [new Background(encoder), new Background(encoder)]
  fill(one, first, [0, 1])
  const before = first.mean(one)
  fill(one, first, [2])
  fill(other, second, [2, 1, 0])
  expect(first.mean(one)).toBeGreaterThan(before)
  expect(first.mean(one)).toBe(second.mean(other))
  one.set(2, undefined)
  first.remove(2)
  expect(first.mean(one)).toBe(before)
})

it('weighs the comparison word by word as much as the request is long, up to fifteen words', () => {
  const shares = Float32Array.of(0.5, 0.8, 0, 0.4, 0, 0)
  const gains = [3, 6, 15, 40].map((count) => matchGain(shares, count) / matchGain(shares, 1))
  expect(gains.map(Math.round)).toEqual([3, 6, 15, 15])
})
