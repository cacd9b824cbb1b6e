import * as z from 'zod'
import { round } from './average.ts'
import { readJsonFile } from './read-json-lines.ts'

/** The difference of macro nDCG@10 to an earlier run. */
export const Drop = z.object({
  before: z.number(),
  now: z.number(),
  /** Points lost; negative for a gain. */
  points: z.number(),
  tooMuch: z.boolean(),
})
export type Drop = z.infer<typeof Drop>

const Saved = z.object({
  sets: z.array(z.object({ set: z.string(), queries: z.int() })),
  macro: z.object({ ndcg10: z.number() }),
})

type Saved = z.infer<typeof Saved>

/** Reads the JSON output of an earlier run. */
export const readBaseline = (file: string): Saved =>
  readJsonFile(file, Saved, 'Pass a file with the output of tooldex eval --json.')

/** Compares scores with a baseline, with warnings where the two differ in sets or queries. */
export function compareWithBaseline(
  saved: Saved,
  measured: Saved,
  maxDrop = Number.POSITIVE_INFINITY,
): { readonly drop: Drop; readonly warnings: readonly string[] } {
  const [before, now] = [saved.macro.ndcg10, round(measured.macro.ndcg10)]
  const points = round(before - now)
  const warnings = contents(saved) === contents(measured) ? [] : ['the baseline has other sets or queries']
  return { drop: { before, now, points, tooMuch: points > maxDrop }, warnings }
}

const contents = ({ sets }: Saved): string => JSON.stringify(sets.map(({ set, queries }) => [set, queries]).sort())
