import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { TooldexError } from '../src/base/errors.ts'
import { evalSearch } from '../src/operations/eval/eval-search.ts'
import { scoreRanking } from '../src/operations/eval/run-queries.ts'
import { percentile } from '../src/operations/eval/set-scores.ts'
import { invoke } from '../src/operations/invoke.ts'
import { projectRoot } from './support/run-cli.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const golden = join(projectRoot, 'tests', 'golden')
// Hybrid nDCG@10 on the golden set when it was made.
const measured = 83.7

const evaluate = (input: object, extra: object = {}) =>
  invoke(evalSearch, { folders: [golden], ...input }, { ...composeProcess({ configs: [] }), ...extra })

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(TooldexError)
  return `${(error as TooldexError).code}: ${(error as TooldexError).message}`
}

const lines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')
const tool = (id: string, description: string) => ({ id, name: id, description })

function writeSet(queries: readonly unknown[], tools: readonly unknown[] = defaultTools): string {
  const folder = tempFolder()
  tempFile('tools.jsonl', lines(tools), folder)
  tempFile('queries.jsonl', lines(queries), folder)
  return folder
}

const defaultTools = [
  tool('GET /cat "x"', 'feeds the cat'),
  tool('dog', 'walks the dog'),
  tool('bird', 'sings with the bird'),
]

/** The scores as a textbook writes them, apart from the code under test. */
function naiveScores(results: string[], relevant: string[]) {
  const isRight = (rank: number) => relevant.includes(results[rank - 1] ?? '\0')
  const found = (depth: number) => [...Array(depth).keys()].filter((index) => isRight(index + 1)).length
  let [gain, ideal, mrr] = [0, 0, 0]
  for (let rank = 10; rank >= 1; rank--) {
    if (isRight(rank)) gain += Math.LN2 / Math.log(rank + 1)
    if (rank <= relevant.length) ideal += Math.LN2 / Math.log(rank + 1)
  }
  for (let rank = results.length; rank >= 1; rank--) if (isRight(rank)) mrr = 1 / rank
  const recall = (depth: number) => found(depth) / relevant.length
  const hit1 = isRight(1) ? 1 : 0
  return { recall1: recall(1), recall5: recall(5), recall10: recall(10), ndcg10: gain / ideal, mrr, hit1 }
}

describe('scores', () => {
  const many = Array.from({ length: 12 }, (_, index) => `t${index}`)
  it.each([
    { name: 'all right', results: ['a', 'b'], relevant: ['a', 'b'] },
    { name: 'second of three', results: ['x', 'a', 'y'], relevant: ['a'] },
    { name: 'half found, late', results: many, relevant: ['t6', 'nowhere'] },
    { name: 'beyond ten', results: many, relevant: ['t10'] },
    { name: 'nothing found', results: [], relevant: ['a'] },
    { name: 'more right ones than places', results: many, relevant: [...many, 'u', 'v'] },
  ])('$name', ({ results, relevant }) => {
    const expected = naiveScores(results, relevant)
    for (const [key, value] of Object.entries(scoreRanking(results, relevant))) {
      expect(value, key).toBeCloseTo(expected[key as keyof typeof expected], 12)
    }
  })

  it('agrees with values worked out by hand', () => {
    expect(scoreRanking(['x', 'a', 'b'], ['a', 'b'])).toEqual({
      recall1: 0,
      recall5: 1,
      recall10: 1,
      ndcg10: expect.closeTo((0.63093 + 0.5) / (1 + 0.63093), 5),
      mrr: 0.5,
      hit1: 0,
    })
    expect(scoreRanking(['a', 'a', 'b'], ['b']).mrr, 'an answer given twice counts once').toBe(0.5)
  })

  it('takes percentiles by nearest rank', () => {
    expect([percentile([4, 1, 3, 2], 0.5), percentile([4, 1, 3, 2], 0.95), percentile([], 0.5)]).toEqual([2, 4, 0])
  })
})

describe('the golden set', () => {
  it('is answered by hybrid search no worse than when it was made, and no worse than by words alone', async () => {
    const [hybrid, bm25] = [await evaluate({}), await evaluate({ mode: 'bm25' })]
    expect(hybrid.warnings).toEqual([])
    expect(hybrid.sets).toMatchObject([{ set: 'golden', tools: 62, queries: 125 }])
    expect(hybrid.macro.ndcg10).toBeGreaterThanOrEqual(measured - 3)
    expect(hybrid.macro.ndcg10).toBeGreaterThanOrEqual(bm25.macro.ndcg10)
    expect(hybrid.macro.tokens).toBeGreaterThan(20)
  })

  it('scores the same as its rankings do', async () => {
    const { rankings = [], macro } = await evaluate({ rankings: true, limit: 20 })
    const queries = readFileSync(join(golden, 'queries.jsonl'), 'utf8').trim().split('\n')
    const each = queries.map((line, index) => naiveScores(rankings[index]?.results ?? [], JSON.parse(line).relevant))
    const mean = (key: keyof (typeof each)[number]) =>
      (100 * each.reduce((sum, one) => sum + one[key], 0)) / each.length
    for (const key of ['recall1', 'recall5', 'recall10', 'ndcg10', 'mrr', 'hit1'] as const) {
      expect(macro[key], key).toBeCloseTo(mean(key), 1)
    }
  })
})

describe('eval', () => {
  it('averages over sets, and takes ids of any characters', async () => {
    const good = writeSet([{ id: '1', query: 'feed the cat', relevant: ['GET /cat "x"'] }])
    const bad = writeSet([{ id: '1', query: 'feed the cat', relevant: ['dog'] }])
    const { sets, macro, rankings } = await evaluate({ folders: [good, bad], mode: 'bm25', rankings: true })
    expect(sets.map((set) => set.hit1)).toEqual([100, 0])
    expect(macro.hit1).toBe(50)
    expect(rankings?.map((ranking) => ranking.results[0])).toEqual(['GET /cat "x"', 'GET /cat "x"'])
  })

  it('reports inconsistencies of a set as warnings', async () => {
    const queries = [
      { id: '1', query: 'cat', relevant: ['gone', 'dog'] },
      { id: '1', query: 'dog', relevant: [] },
    ]
    const { warnings, macro } = await evaluate({ folders: [writeSet(queries, [...defaultTools, defaultTools[1]])] })
    expect(warnings.map((warning) => warning.replace(/^[^:]*: /, ''))).toEqual([
      '1 relevant id(s) match no tool; they count as not found',
      '1 query(s) have no relevant tool; they count for the verdict only',
      '1 tool id(s) are duplicates; the last one counts',
      '1 query id(s) are duplicates',
    ])
    expect(Number.isFinite(macro.ndcg10)).toBe(true)
  })

  it('learns from labeled queries, and warns where they are evaluated again', async () => {
    const folder = writeSet([{ id: '1', query: 'zork the frob', relevant: ['bird'] }])
    const learn = join(folder, 'queries.jsonl')
    const before = await evaluate({ folders: [folder], mode: 'bm25' })
    const after = await evaluate({ folders: [folder], mode: 'bm25', learn })
    expect([before.macro.hit1, after.macro.hit1]).toEqual([0, 100])
    expect(after.warnings).toEqual(['1 query(s) are also among the learned queries'])
  })

  it('rejects an invalid set by file and line', async () => {
    const folder = tempFolder()
    expect(await refusalOf(evaluate({ folders: [join(folder, 'none')] }))).toMatch(
      /^FILE_REFUSED: .*none is not a folder/,
    )
    expect(await refusalOf(evaluate({ folders: [folder] }))).toMatch(/^FILE_REFUSED: .*tools\.jsonl does not exist/)
    tempFile('tools.jsonl', `${JSON.stringify(defaultTools[0])}\n\n{"id": 1,\n`, folder)
    expect(await refusalOf(evaluate({ folders: [folder] }))).toMatch(/tools\.jsonl:3: this is not JSON/)
    tempFile('tools.jsonl', lines([defaultTools[0], { id: 'a' }]), folder)
    expect(await refusalOf(evaluate({ folders: [folder] }))).toMatch(/tools\.jsonl:2: name is required/)
    const baseline = join(folder, 'tools.jsonl')
    expect(await refusalOf(evaluate({ baseline }))).toMatch(/tools\.jsonl:1: this is not JSON/)
    expect(await refusalOf(evaluate({ maxDrop: 1 }))).toMatch(/^USAGE: /)
  })

  it('stops between queries when it is cancelled', async () => {
    const controller = new AbortController()
    let asked = 0
    const onProgress = (done: number) => {
      asked = done
      if (done === 3) controller.abort()
    }
    expect(await refusalOf(evaluate({}, { signal: controller.signal, onProgress }))).toMatch(/^EXECUTION_CANCELLED/)
    expect(asked).toBe(3)
  })
})

describe('tooldex eval', () => {
  const run = (...words: string[]) => runInProcess(['eval', ...words], { columns: 200 })

  it('prints JSON that serves as a baseline, writes the answers, and fails on a drop', async () => {
    const folder = tempFolder()
    const answers = join(folder, 'run.jsonl')
    const { code, out } = await run(golden, '--json', '--run', answers, '--limit', '12')
    expect(code).toBe(0)
    expect(Object.keys(JSON.parse(out))).toEqual(['sets', 'macro'])
    const keys =
      'set tools queries recall1 recall5 recall10 ndcg10 mrr hit1 setRecall5 auroc falseAbstention trueAbstention tokens p50Ms p95Ms'.split(
        ' ',
      )
    expect(Object.keys(JSON.parse(out).sets[0])).toEqual(keys)
    const first = JSON.parse(readFileSync(answers, 'utf8').split('\n')[0] ?? '')
    expect(first).toEqual({ id: 'g1', results: expect.any(Array) })
    const baseline = tempFile('baseline.json', out, folder)
    const same = await run(golden, '--baseline', baseline, '--max-drop', '0')
    expect([same.code, same.err]).toEqual([0, expect.stringContaining('rose by 0 points')])
    const worse = await run(golden, '--mode', 'substring', '--baseline', baseline, '--max-drop', '0.5')
    expect([worse.code, worse.err]).toEqual([
      1,
      expect.stringMatching(/Macro nDCG@10 fell by .* more than the 0.5 allowed/),
    ])
  })

  it('prints a table', async () => {
    const { code, out } = await run(golden, '--mode', 'bm25')
    expect([code, out]).toEqual([0, expect.stringMatching(/Set +Tools .*\n.*\ngolden +62 +125 .*\nmacro/)])
  })
})
