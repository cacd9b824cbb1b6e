import { describe, it } from 'vitest'
import { tryManyExecutions } from '../soak/many-executions.ts'

describe('90: a million executions', () => {
  it('90: lists stay quick and retention works with 1,000,000 rows and an output of 100 MB', async () => {
    await tryManyExecutions(1_000_000, 950_000)
  }, 900_000)
})
