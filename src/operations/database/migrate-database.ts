import * as z from 'zod'
import { migrate, readState } from '../../storage/index.ts'
import { defineOperation } from '../operation.ts'

/** Migrates the database. */
export const migrateDatabase = defineOperation({
  name: 'database.migrate',
  summary: 'Apply pending migrations to the database; if one fails, nothing is changed.',
  scope: 'admin',
  needs: ['database'],
  input: z.object({}),
  output: z.object({ name: z.string(), steps: z.array(z.string()), applied: z.array(z.string()) }),
  async handle(_input, context) {
    const { database } = context
    const steps: string[] = []
    await migrate(database, (step) => {
      steps.push(step)
      context.onStep?.(step)
    })
    const { applied } = await readState(database)
    return { name: database.name, steps, applied: applied.map(({ name }) => name) }
  },
})
