import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SearchableTool } from '../contract/search.ts'

const word = fc.constantFrom('git', 'commit', 'branch', 'container', 'file', 'weather', 'invoice', 'send', 'list')
const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
const tool = fc.record({ id: fc.constant('t'), name: word, description: text })
const places = 6

/** An index of tools by position, whose scores are those of the engine. */
export interface Retriever {
  add(position: number, tool: SearchableTool): void
  remove(position: number): void
  /** The scores of a query, by position. */
  rank(text: string, count: number): Float64Array
}

/** What every retriever must do. */
export function describeRetriever(name: string, create: () => Retriever): void {
  describe(`retriever: ${name}`, () => {
    it('gives something to what fits, and more to what fits better', () => {
      const retriever = create()
      retriever.add(0, { id: 'a', name: 'git_commit', description: 'Record changes to the repository in git' })
      retriever.add(1, { id: 'b', name: 'get_weather', description: 'Weather forecast of a city' })
      retriever.add(2, { id: 'c', name: 'send_invoice', description: 'Send an invoice to a customer' })
      const scores = retriever.rank('record changes to the git repository', 3)
      expect(scores.every((score) => score >= 0)).toBe(true)
      expect(scores[0]).toBeGreaterThan(Math.max(scores[1] ?? 0, scores[2] ?? 0))
    })

    it('gives nothing for words that mean nothing, and nothing when empty', () => {
      const retriever = create()
      expect([...scoresOf(retriever, 'git commit')]).toEqual(Array(places).fill(0))
      retriever.add(0, { id: 'a', name: 'git_commit', description: 'Record changes' })
      expect([...scoresOf(retriever, 'zzxqv qqqzzz')]).toEqual(Array(places).fill(0))
      expect([...scoresOf(retriever, '')]).toEqual(Array(places).fill(0))
    })

    it('after any adds and removes scores as one built fresh', () => {
      const steps = fc.array(fc.tuple(fc.nat({ max: places - 1 }), fc.option(tool)), { maxLength: 25 })
      fc.assert(
        fc.property(steps, text, (changes, query) => {
          const retriever = create()
          const left = new Map<number, SearchableTool>()
          for (const [position, next] of changes) {
            const known = left.get(position)
            if (known !== undefined) retriever.remove(position)
            left.delete(position)
            if (next === null) continue
            retriever.add(position, next)
            left.set(position, next)
          }
          const fresh = create()
          for (const [position, each] of left) fresh.add(position, each)
          const [mine, theirs] = [scoresOf(retriever, query), scoresOf(fresh, query)]
          for (const [position, score] of mine.entries()) expect(score).toBeCloseTo(theirs[position] ?? -1, 6)
        }),
        { numRuns: 60 },
      )
    })
  })
}

/** A copy, because scores are valid until the next query. */
const scoresOf = (retriever: Retriever, query: string) => Float64Array.from(retriever.rank(query, places))
