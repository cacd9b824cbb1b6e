import { expect, it } from 'vitest'
import { TooldexError } from '../base/errors.ts'
import type { ArgValue } from '../contract/arguments.ts'
import { checkValues } from './check-values.ts'

const refusal = async (constraint: object, value: ArgValue | null) => {
  try {
    await checkValues({ amount: constraint }, new Map([['amount', value]]))
    return undefined
  } catch (error) {
    return error instanceof TooldexError ? [error.code, error.problems[0]?.pointer, error.problems[0]?.message] : error
  }
}

it('refuses null where an argument is bound, and says what to do', async () => {
  const message = "Argument 'amount': null cannot be checked, but the policy bounds it; pass a value or omit it"
  expect(await refusal({ max: 3 }, null)).toEqual(['POLICY_REFUSED', '/amount', message])
  expect(await refusal({ pattern: '.*' }, null)).toEqual(['POLICY_REFUSED', '/amount', message])
})

it('refuses an object where a number is bound', async () => {
  const message = `Argument 'amount': value '{"a":1}' is not a number, but the policy bounds it`
  expect(await refusal({ min: 0, max: 3 }, '{"a":1}')).toEqual(['POLICY_REFUSED', '/amount', message])
  expect(await refusal({ max: 3 }, [2, 'null'])).toMatchObject([
    'POLICY_REFUSED',
    '/amount',
    expect.stringContaining("'null'"),
  ])
  expect(await refusal({ max: 3 }, [1, 2])).toBeUndefined()
})
