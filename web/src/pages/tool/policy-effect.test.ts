import { expect, it } from 'vitest'
import { effectOn } from './policy-effect.ts'

it('describes what a policy does to a tool', () => {
  const tools = {
    plain: {},
    bound: { requireApproval: true, args: { n: { min: 1, max: 5 }, path: { pattern: '^/tmp' } } },
  }
  expect(effectOn({ tools }, 'other')).toEqual({ kind: 'hidden', details: [] })
  expect(effectOn({ tools, default: 'enabled' }, 'constructor')).toEqual({ kind: 'allowed', details: [] })
  expect(effectOn({ tools }, 'plain')).toEqual({ kind: 'allowed', details: [] })
  expect(effectOn({ tools }, 'bound')).toEqual({
    kind: 'restricted',
    details: ['each call needs approval', 'n is at least 1 and is at most 5', 'path matches ^/tmp'],
  })
})
