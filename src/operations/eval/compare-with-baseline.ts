import * as z from 'zod'
import { round } from './average.ts'
import { readJsonFile } from './read-json-lines.ts'

/** How far the macro nDCG@10 is from an earlier one. */
export const Drop = z.object({
  before: z.number(),
  now: z.number(),
  /** Points lost; below zero where some were won. */
  points: z.number(),
  tooMuch: z.boolean(),
})
export type Drop = z.infer<typeof Drop>

const Saved = z.object({
  sets: z.array(z.object({ set: z.string(), queries: z.int() })),
  macro: z.object({ ndcg10: z.number() }),
})

/** Compares what was measured now with what was saved, and says where the two are not of the same things. */
export function compareWithBaseline(
  { baseline, maxDrop }: { readonly baseline?: string | null | undefined; readonly maxDrop?: number | null | undefined },
  measured: z.infer<typeof Saved>,
): { readonly drop?: Drop; readonly warnings: readonly string[] } {
  if (baseline == null) return { warnings: [] }
  const saved = readJsonFile(baseline, Saved)
  const [before, now] = [saved.macro.ndcg10, round(measured.macro.ndcg10)]
  const points = round(before - now)
  const warnings = contents(saved) === contents(measured) ? [] : [`${baseline} was measured on other sets or queries`]
  return { drop: { before, now, points, tooMuch: maxDrop != null && points > maxDrop }, warnings }
}

const contents = ({ sets }: z.infer<typeof Saved>): string =>
  JSON.stringify(sets.map(({ set, queries }) => [set, queries]).sort())
