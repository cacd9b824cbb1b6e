import { expect, it } from 'vitest'
import { toolDependents } from './tool-dependents.ts'

it('names the fields that depend on another one, beside it', () => {
  expect(toolDependents(['tools', '0', 'inputSchema'])).toEqual([
    ['tools', '0', 'executorConfig'],
    ['tools', '0', 'examples'],
  ])
})

it.each(['constructor', 'toString', '__proto__', 'name'])('has none for the key %s', (key) => {
  expect(toolDependents(['bundle', key])).toEqual([])
})
