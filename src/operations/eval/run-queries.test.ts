import { performance } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { measureQueries } from './run-queries.ts'

/** Computes for longer than one turn may take. */
function compute(): void {
  for (const until = performance.now() + 12; performance.now() < until; );
}

it('gives other requests a turn after each query and each count, however many evaluations run', async () => {
  const turns: number[] = []
  const work = () => {
    turns.push(performance.nodeTiming.uvMetricsInfo.loopCount)
    compute()
  }
  const queries = Array.from({ length: 5 }, (_, at) => ({ id: String(at), query: `query ${at}`, relevant: [] }))
  const options = {
    runQuery: () => {
      work()
      return []
    },
    countTokens: () => {
      work()
      return 1
    },
    onQuery: () => {},
  }
  await Promise.all(Array.from({ length: 3 }, () => measureQueries(queries, options)))
  expect(turns).toHaveLength(3 * 2 * queries.length)
  expect(new Set(turns).size).toBe(turns.length)
})

it('ends with the signal', async () => {
  const queries = [{ id: '1', query: 'query', relevant: [] }]
  const options = { runQuery: () => [], countTokens: () => 1, onQuery: () => {}, signal: AbortSignal.abort() }
  await expect(measureQueries(queries, options)).rejects.toMatchObject({ code: 'EXECUTION_CANCELLED' })
})
