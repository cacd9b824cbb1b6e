import { describe, expect, it } from 'vitest'
import type { RunnableTool } from '../contract/executor.ts'
import { checkInput } from './check-input-output.ts'

const tool = { name: 'say_hello' } as RunnableTool
const schema = {
  type: 'object',
  properties: { who: { type: 'string' }, to: { type: 'array', items: { type: 'string' } } },
  required: ['who'],
}

describe('the error for an invalid input', () => {
  it('names each field once', async () => {
    await expect(checkInput(tool, schema, {})).rejects.toThrow(/^say_hello: who is required\.$/)
    await expect(checkInput(tool, schema, { who: 'a', to: ['b', 7] })).rejects.toThrow(
      /^say_hello: to\[1\] must be a string[^/]*\.$/,
    )
  })
})
