import * as z from 'zod'
import { defineOperation } from '../operation.ts'

const tag = 'learning'
const Experience = z.object({ query: z.string(), toolIds: z.array(z.string()) })
const keptIn = z.string().nullable().describe('A file or the database; null if learning is off.')
const maxShown = 200

/** Returns the learned queries. */
export const showLearning = defineOperation({
  name: 'learning.show',
  summary: 'Show what search learned from past queries and calls.',
  scope: 'admin',
  needs: ['memory'],
  http: { method: 'get', path: '/learning', tag },
  input: z.object({ limit: z.int().min(1).max(maxShown).default(20).describe('The number of latest entries.') }),
  output: z.object({ keptIn, count: z.int(), latest: z.array(Experience) }),
  async handle({ limit }, { memory }) {
    const all = await memory.experiences()
    const latest = all.slice(-limit).map(({ query, toolIds }) => ({ query, toolIds: [...toolIds] }))
    return { keptIn: memory.place ?? null, count: all.length, latest }
  },
})

/** Deletes the learned queries. */
export const forgetLearning = defineOperation({
  name: 'learning.forget',
  summary: 'Delete everything that search learned.',
  scope: 'admin',
  needs: ['memory'],
  http: { method: 'delete', path: '/learning', tag },
  input: z.object({}),
  output: z.object({ keptIn, forgotten: z.int() }),
  async handle(_, { memory, caller }) {
    return { keptIn: memory.place ?? null, forgotten: await memory.forget(caller) }
  },
})
