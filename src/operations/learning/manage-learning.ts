import * as z from 'zod'
import { defineOperation } from './operation.ts'

const Experience = z.object({ query: z.string(), toolIds: z.array(z.string()) })

/** See what search learned from calls, or forget it. */
export const manageLearning = defineOperation({
  name: 'search.learning',
  summary: 'See what search learned from what was searched and called, or forget it.',
  scope: 'admin',
  input: z.object({ reset: z.boolean().default(false) }),
  output: z.object({
    file: z.string().nullable(),
    count: z.int(),
    latest: z.array(Experience),
    forgotten: z.boolean(),
  }),
  handle({ reset }, { memory }) {
    const all = memory.experiences()
    if (reset) memory.reset()
    const latest = reset ? [] : all.slice(-20).map(({ query, toolIds }) => ({ query, toolIds: [...toolIds] }))
    return { file: memory.file ?? null, count: reset ? 0 : all.length, latest, forgotten: reset && all.length > 0 }
  },
})
