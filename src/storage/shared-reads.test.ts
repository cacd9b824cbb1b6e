import { expect, it } from 'vitest'
import { SharedReads } from './database.ts'

it('reads once for all callers of one event-loop turn, and never returns an earlier result', async () => {
  const reads = new SharedReads<number>()
  let value = 1
  let asked = 0
  const ask = async () => {
    asked++
    return value
  }
  expect(await Promise.all([reads.read('a', ask), reads.read('a', ask), reads.read('b', ask)])).toEqual([1, 1, 1])
  expect(asked).toBe(2)
  const slow = reads.read('a', async () => {
    const seen = value
    value = 2
    const later = reads.read('a', ask)
    return [seen, await later].reduce((sum, each) => sum + each)
  })
  expect(await slow).toBe(3)
})

it('goes on after a read that failed', async () => {
  const reads = new SharedReads<string>()
  await expect(reads.read('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await reads.read('a', async () => 'there')).toBe('there')
})
