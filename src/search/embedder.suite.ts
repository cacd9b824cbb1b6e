import { describe, expect, it } from 'vitest'
import type { SearchableTool } from '../contract/search.ts'
import type { Embedder } from './encoder.ts'

/** What an embedder is asked about in the suite; one that must fetch its vectors does so beforehand. */
export const embedderQueries: readonly string[] = [
  'list the branches of the repository',
  'weather forecast for tomorrow',
]
export const embedderTools: readonly SearchableTool[] = [
  { id: 'branches', name: 'git_branch', description: 'List, create or delete branches of a repository' },
  { id: 'weather', name: 'get_weather', description: 'The weather forecast of a city for the coming days' },
]

/** What every embedder must do. */
export function describeEmbedder(name: string, open: () => Embedder | Promise<Embedder>): void {
  describe(`embedder: ${name}`, () => {
    it('gives vectors of one length, each one long', async () => {
      const embedder = await open()
      for (const vector of allVectors(embedder)) {
        expect(vector).toHaveLength(embedder.dim)
        expect(Math.hypot(...vector)).toBeCloseTo(1, 4)
      }
    })

    it('gives the same vector for the same text', async () => {
      const embedder = await open()
      expect(allVectors(embedder)).toEqual(allVectors(embedder))
    })

    it('puts what means the same nearer than what does not', async () => {
      const [branchQuery, weatherQuery, branches, weather] = allVectors(await open()) as [
        Float32Array,
        Float32Array,
        Float32Array,
        Float32Array,
      ]
      expect(dot(branchQuery, branches)).toBeGreaterThan(dot(branchQuery, weather))
      expect(dot(weatherQuery, weather)).toBeGreaterThan(dot(weatherQuery, branches))
    })
  })
}

const allVectors = (embedder: Embedder): readonly Float32Array[] => [
  ...embedderQueries.map((query) => copyOf(embedder.embedQuery(query))),
  ...embedderTools.map((tool) => copyOf(embedder.embedTool(tool))),
]

/** A vector is valid until the next call only. */
const copyOf = (vector: Float32Array | undefined): Float32Array => Float32Array.from(vector ?? [])

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, column) => sum + value * (b[column] ?? 0), 0)
