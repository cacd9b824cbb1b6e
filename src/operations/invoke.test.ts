import { expect, it } from 'vitest'
import * as z from 'zod'
import { silentLogger } from '../base/logger.ts'
import { operations } from './index.ts'
import { invoke } from './invoke.ts'
import { type CallerContext, defineOperation, type Operation } from './operation.ts'

const alone: CallerContext = {
  caller: { workspace: 'default', actor: 'test' },
  scopes: new Set(['read', 'call', 'write', 'admin']),
  logger: silentLogger,
}

it('rejects each operation in a process without its services, before it reads the input', async () => {
  const needy = operations.filter(({ needs = [] }) => needs.some((need) => !need.endsWith('?')))
  expect(needy.length).toBeGreaterThan(60)
  for (const operation of needy as unknown as readonly Operation<z.ZodObject, z.ZodType>[]) {
    const refused = invoke(operation, { unknownField: true }, alone)
    await expect(refused, operation.name).rejects.toMatchObject({ code: 'UNAVAILABLE', hint: expect.any(String) })
  }
})

it('makes a service that an operation does not declare a type error', async () => {
  const count = defineOperation({
    name: 'test.count',
    summary: 'Count stored outputs.',
    scope: 'read',
    needs: ['metrics?'],
    input: z.object({}),
    output: z.boolean(),
    handle(_, context) {
      // @ts-expect-error An undeclared service is not part of the context.
      expect(context.registry).toBeUndefined()
      return context.metrics === undefined
    },
  })
  expect(await invoke(count, {}, alone)).toBe(true)
  // @ts-expect-error A service with a question mark may be absent.
  defineOperation({ ...count, needs: ['metrics?'], handle: (_, { metrics }) => metrics.render('', {}, undefined) })
})
