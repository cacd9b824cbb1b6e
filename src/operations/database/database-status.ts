import * as z from 'zod'
import { countRows, migrate, readMigrationState } from '../../storage/index.ts'
import { defineOperation } from '../operation.ts'

/** Returns engine, migration status and row counts. */
export const databaseStatus = defineOperation({
  name: 'database.status',
  summary: 'Show the database engine, its migration status and its row counts.',
  scope: 'admin',
  needs: ['database'],
  input: z.object({}),
  output: z.object({
    engine: z.enum(['pglite', 'postgres']),
    name: z.string(),
    applied: z.array(z.object({ name: z.string(), appliedAt: z.string() })),
    pending: z.array(z.string()),
    olderShape: z.boolean(),
    /** Present only if no migration is pending. */
    rows: z.record(z.string(), z.int()).optional(),
  }),
  async handle(_input, context) {
    const { database } = context
    const { applied, pending, olderShape } = await readMigrationState(database)
    const about = {
      engine: database.engine,
      name: database.name,
      applied: [...applied],
      pending: [...pending],
      olderShape,
    }
    return pending.length > 0 ? about : { ...about, rows: await countRows(database) }
  },
})

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
    const { applied } = await readMigrationState(database)
    return { name: database.name, steps, applied: applied.map(({ name }) => name) }
  },
})
