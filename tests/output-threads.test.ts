import { expect, it } from 'vitest'

// A thread can be started only from what is built.
const built = new URL('../dist/runs/output-threads.js', import.meta.url).href
const { readResultInWorker } = (await import(built)) as typeof import('../src/runs/output-threads.ts')

const page = { offset: 0, limit: 10 }
const json = (value: unknown) => ({ mediaType: 'application/json', content: JSON.stringify(value) })

it('reads by path and by pattern in a thread of its own, with errors as they are', async () => {
  const large = json({ rows: Array.from({ length: 5000 }, (_, id) => ({ id, name: `row ${id}` })) })
  const { items } = await readResultInWorker(large, { ...page, path: '$.rows[?@.id == 4711].name' })
  expect(items.map((item) => JSON.stringify(item)).join()).toContain('row 4711')
  await expect(readResultInWorker(large, { ...page, path: '$.rows[' })).rejects.toMatchObject({ code: 'INPUT_INVALID' })
})

it('ends an endless path at its deadline, does not block the event loop, and can be cancelled', async () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 12; depth++) deep = { a: deep, b: deep }
  const nasty = { ...page, path: `$${'..*'.repeat(8)}` }
  let turns = 0
  const timer = setInterval(() => turns++, 50)
  await expect(readResultInWorker(json(deep), nasty)).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  clearInterval(timer)
  expect(turns).toBeGreaterThan(0)
  const stopping = new AbortController()
  setTimeout(() => stopping.abort(), 300)
  await expect(readResultInWorker(json(deep), nasty, stopping.signal)).rejects.toMatchObject({
    code: 'EXECUTION_CANCELLED',
  })
})
