import { expect, it } from 'vitest'
import { lazyModule } from './lazy-module.ts'

it('loads a module once, and again only after a failure', async () => {
  let loads = 0
  const load = lazyModule(async () => {
    loads++
    if (loads === 1) throw new Error('not readable')
    return { loads }
  })
  await expect(load()).rejects.toThrow('not readable')
  expect(await Promise.all([load(), load()])).toEqual([{ loads: 2 }, { loads: 2 }])
  expect(await load()).toEqual({ loads: 2 })
})
