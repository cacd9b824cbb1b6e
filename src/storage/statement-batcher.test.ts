import { expect, it } from 'vitest'
import { StatementBatcher } from './statement-batcher.ts'

const limits = { atOnce: 1, maxItems: 3, maxWeight: 100, isRetriable: () => true }
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

it('does together what comes in one turn or meanwhile, each with its answer', async () => {
  const seen: (readonly number[])[] = []
  const gatherer = new StatementBatcher(async (items: readonly number[]) => {
    seen.push(items)
    await nextTurn()
    return items.map((item) => item * 2)
  }, limits)
  expect(await Promise.all([1, 2, 3, 4, 5].map((item) => gatherer.do(item)))).toEqual([2, 4, 6, 8, 10])
  expect(seen).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
  expect(await gatherer.do(6)).toBe(12)
})

it('limits the weight of a batch, and runs a heavy statement alone', async () => {
  const seen: (readonly number[])[] = []
  const gatherer = new StatementBatcher(async (items: readonly number[]) => {
    seen.push(items)
    return items
  }, limits)
  const weights = [40, 40, 40, 500, 10]
  expect(await Promise.all(weights.map((weight, at) => gatherer.do(at, weight)))).toEqual([0, 1, 2, 3, 4])
  expect(seen).toEqual([[0, 1], [2], [3], [4]])
})

it('isolates callers from the failures of other statements of a batch', async () => {
  const gatherer = new StatementBatcher(async (items: readonly number[]) => {
    await nextTurn()
    if (items.includes(3)) throw new Error('three')
    return items
  }, limits)
  const answers = await Promise.allSettled([1, 2, 3, 4].map((item) => gatherer.do(item)))
  expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.message))).toEqual([
    1,
    2,
    'three',
    4,
  ])
})

it('does not try each alone where none can go well', async () => {
  let tried = 0
  const away = async () => {
    tried++
    await nextTurn()
    throw new Error('away')
  }
  const gatherer = new StatementBatcher(away, { ...limits, isRetriable: () => false })
  const answers = await Promise.allSettled([1, 2, 3].map((item) => gatherer.do(item)))
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(tried).toBe(1)
})
