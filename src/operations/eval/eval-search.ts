import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { loadTokenCounter } from '../../base/tokens.ts'
import { SearchMode } from '../../contract/search.ts'
import { defineOperation } from '../operation.ts'
import { lazyBundledEncoder } from './bundled-encoder.ts'
import { findEvalSetWarnings, QueryLine, readEvalFile, readEvalLines, readEvalSet } from './eval-set.ts'
import { createQueryRunner, measureQueries, type Ranking } from './run-queries.ts'
import { averageScores, MacroScores, numberKeys, round, roundScores, SetScores, summarizeScores } from './set-scores.ts'

/** The difference of macro nDCG@10 to an earlier run. */
const Drop = z.object({
  before: z.number(),
  now: z.number(),
  /** Points lost; negative for a gain. */
  points: z.number(),
  tooMuch: z.boolean(),
})
type Drop = z.infer<typeof Drop>

const Input = z.object({
  /** Folders with a tools.jsonl and a queries.jsonl each. */
  folders: z.array(z.string()).min(1),
  mode: SearchMode.nullish().transform((mode) => mode ?? 'hybrid'),
  /** The maximum number of results; below 10, the scores at 10 are lower. */
  limit: z
    .int()
    .min(1)
    .max(1000)
    .nullish()
    .transform((limit) => limit ?? 10),
  /** A file of queries with relevant tools that search learns in advance. */
  learn: z.string().nullish(),
  /** The JSON output of an earlier run. */
  baseline: z.string().nullish(),
  /** The maximum loss of macro nDCG@10, in points. */
  maxDrop: z.number().min(0).nullish(),
  /** Whether to return the rankings too: memory grows with queries times limit. */
  rankings: z.boolean().default(false),
})
type Input = z.infer<typeof Input>

/** Evaluates search on sets. */
export const evalSearch = defineOperation({
  name: 'search.eval',
  summary: 'Evaluate search on sets of queries whose relevant tools are known.',
  scope: 'read',
  input: Input,
  output: z.object({
    sets: z.array(SetScores),
    macro: MacroScores,
    warnings: z.array(z.string()),
    drop: Drop.optional(),
    rankings: z.array(z.object({ id: z.string(), results: z.array(z.string()) })).optional(),
  }),
  async handle(input, { signal, onProgress }) {
    if (input.maxDrop != null && input.baseline == null) {
      throw new TooldexError('USAGE', 'A maximum drop needs a baseline.')
    }
    const sets = input.folders.map(readEvalSet)
    const saved = input.baseline == null ? undefined : readBaseline(input.baseline)
    const learn = input.learn == null ? [] : readEvalLines(input.learn, QueryLine)
    const [countTokens, loadEmbedder] = [await loadTokenCounter(), lazyBundledEncoder()]
    const warnings = [
      ...sets.flatMap(findEvalSetWarnings),
      ...missingEncoder(input, loadEmbedder()),
      ...leaks(sets, learn),
    ]
    const scores: SetScores[] = []
    const rankings: Ranking[] = []
    let done = 0
    const onQuery = () => onProgress?.(++done)
    for (const set of sets) {
      const { mode, limit } = input
      const runQuery = createQueryRunner(set, { mode, limit, loadEmbedder, learn })
      const measured = await measureQueries(set.queries, { runQuery: runQuery, countTokens, signal, onQuery })
      scores.push(summarizeScores(set, measured))
      if (input.rankings) for (const ranking of measured.rankings) rankings.push(ranking)
    }
    const macro = averageScores(numberKeys, scores)
    const compared = saved && compareWithBaseline(saved, { sets: scores, macro }, input.maxDrop ?? undefined)
    return {
      sets: scores.map(roundScores),
      macro: roundScores(macro),
      warnings: [...warnings, ...(compared?.warnings ?? [])],
      ...(compared === undefined ? {} : { drop: compared.drop }),
      ...(input.rankings ? { rankings: rankings.map(({ id, results }) => ({ id, results: [...results] })) } : {}),
    }
  },
})

function missingEncoder({ mode }: Input, encoder: unknown): readonly string[] {
  const needed = mode === 'hybrid' || mode === 'embedding'
  return needed && encoder === undefined ? ['the encoder is not installed: search ranks by words only'] : []
}

/** A learned query that is evaluated again measures memory, not search. */
function leaks(sets: readonly { readonly queries: readonly QueryLine[] }[], learn: readonly QueryLine[]): string[] {
  const learned = new Set(learn.map((line) => normalize(line.query)))
  const again = sets.flatMap((set) => set.queries).filter((line) => learned.has(normalize(line.query))).length
  return again === 0 ? [] : [`${again} query(s) are also among the learned queries`]
}

const normalize = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ')

const Saved = z.object({
  sets: z.array(z.object({ set: z.string(), queries: z.int() })),
  macro: z.object({ ndcg10: z.number() }),
})

type Saved = z.infer<typeof Saved>

/** Reads the JSON output of an earlier run. */
const readBaseline = (file: string): Saved =>
  readEvalFile(file, Saved, 'Pass a file with the output of tooldex eval --json.')

/** Compares scores with a baseline, with warnings where the two differ in sets or queries. */
function compareWithBaseline(
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
