import { expect, it } from 'vitest'
import { TooldexError } from '../base/errors.ts'
import type { ArgValue, Uncheckable } from '../contract/executor.ts'
import { checkBoundValues } from './check-bound-values.ts'

const refusal = async (constraint: object, value: ArgValue | null | Uncheckable) => {
  try {
    await checkBoundValues({ amount: constraint }, new Map([['amount', value]]))
    return undefined
  } catch (error) {
    return error instanceof TooldexError ? [error.code, error.problems[0]?.pointer, error.problems[0]?.message] : error
  }
}

it('rejects null for a bounded argument, with the next step', async () => {
  const message = "Argument 'amount': null cannot be checked, but the policy bounds it; pass a value or omit it"
  expect(await refusal({ max: 3 }, null)).toEqual(['POLICY_REFUSED', '/amount', message])
  expect(await refusal({ pattern: '.*' }, null)).toEqual(['POLICY_REFUSED', '/amount', message])
})

it('refuses a text that some programs read as another number', async () => {
  for (const text of ['9e-9', '1e3', '010', '-010', '0x1F', '\u00a09', '9\n', '1_0', '\uff11', 'Infinity', ''])
    expect(await refusal({ min: -20, max: 2000 }, text), text).toMatchObject([
      'POLICY_REFUSED',
      '/amount',
      expect.any(String),
    ])
  for (const text of ['0', '-5', '+5', '0.5', '.5', '5.', ' 5 ', '1000'])
    expect(await refusal({ min: -20, max: 2000 }, text), text).toBeUndefined()
})

it('refuses an object or an array where a scalar is bound, whatever its text', async () => {
  const message = (what: string) =>
    `Argument 'amount': ${what} cannot be checked, but the policy bounds it; pass a string, a number or a boolean`
  for (const constraint of [{ min: 0, max: 3 }, { pattern: '.*' }])
    for (const uncheckable of ['an object', 'an array'] as const)
      expect(await refusal(constraint, { uncheckable })).toEqual(['POLICY_REFUSED', '/amount', message(uncheckable)])
  expect(await refusal({ max: 3 }, [2, 'null'])).toMatchObject([
    'POLICY_REFUSED',
    '/amount',
    expect.stringContaining("'null'"),
  ])
  expect(await refusal({ max: 3 }, [1, 2])).toBeUndefined()
})
