import { describe, expect, it } from 'vitest'
import { encoderFile } from '../base/package-info.ts'
import { loadEncoder } from './encoder.ts'
import { learningDefaults, PastQueries } from './past-queries.ts'

const encoder = loadEncoder(encoderFile)

describe.each([
  ['with meaning', encoder],
  ['by words alone', undefined],
] as const)('PastQueries, %s', (_, embedder) => {
  it('lets queries that are alike vote for what they led to', () => {
    const past = new PastQueries(embedder)
    past.add('what is the weather in Berlin', ['weather'])
    past.add('send a mail to my boss', ['mail'])
    const votes = past.votes('how is the weather in Paris')
    expect(votes.get('weather') ?? 0).toBeGreaterThan(votes.get('mail') ?? 0)
  })

  it('splits the credit of a query that led to several tools', () => {
    const past = new PastQueries(embedder)
    past.add('export the quarterly invoices', ['one'])
    const alone = past.votes('export the quarterly invoices').get('one') ?? 0
    const shared = new PastQueries(embedder)
    shared.add('export the quarterly invoices', ['one', 'two'])
    expect(shared.votes('export the quarterly invoices').get('one')).toBeLessThan(alone)
  })

  it('limits the weight of a query that is repeated often', () => {
    const past = new PastQueries(embedder)
    for (let count = 0; count < 1000; count++) past.add('deploy the service', ['often'])
    past.add('deploy the service now', ['once'])
    expect(past.size).toBe(2)
    const votes = past.votes('deploy the service')
    expect(votes.get('once')).toBeGreaterThan((votes.get('often') ?? 0) / 3)
    for (const gain of votes.values()) expect(gain).toBeLessThanOrEqual(learningDefaults.cap)
  })

  it('takes nothing from an empty query or one without tools', () => {
    const past = new PastQueries(embedder)
    past.add('   ', ['x'])
    past.add('find something', [])
    expect(past.size).toBe(0)
    expect(past.votes('find something').size).toBe(0)
  })

  it('lets near-duplicates share their say', () => {
    const cities = ['Berlin', 'Paris', 'Rome', 'Oslo', 'Bern', 'Wien', 'Prague', 'Lisbon']
    const asked = (count: number): number => {
      const past = new PastQueries(embedder, { ...learningDefaults, cap: 1000 })
      for (const city of cities.slice(0, count)) past.add(`deploy the billing service in ${city}`, ['deploy'])
      return past.votes('deploy the billing service in Madrid').get('deploy') ?? 0
    }
    expect(asked(8)).toBeGreaterThan(asked(1))
    expect(asked(8)).toBeLessThan(asked(1) * 3)
  })

  it('deletes the oldest queries beyond the limit', () => {
    const past = new PastQueries(embedder, { ...learningDefaults, maxRemembered: 2 })
    for (const word of ['invoices', 'weather', 'holidays']) past.add(`show the ${word}`, [word])
    expect(past.size).toBe(2)
    expect([...past.votes('show the invoices').keys()].sort()).toEqual(['holidays', 'weather'])
    past.add('show the invoices', ['invoices'])
    expect([...past.votes('show the weather').keys()].sort()).toEqual(['holidays', 'invoices'])
  })
})
