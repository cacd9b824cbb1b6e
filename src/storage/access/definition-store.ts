import { getTableName } from 'drizzle-orm'
import type * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { DefinitionStore } from '../../contract/policy.ts'
import type { Caller, Condition, RegistryState } from '../../contract/stores.ts'
import { isExpectedText } from '../../rules/expected.ts'
import { type Db, KeptReads, SharedReads } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { recordOfferedChange } from '../record.ts'
import { namedRows } from '../rows.ts'
import type { limits, toolsets } from '../schema-access.ts'

type Row = typeof toolsets.$inferSelect

/** The maximum number of workspaces whose definitions are kept. */
const maxKept = 100

/** Named definitions, such as toolsets: one row each, with an audit entry for every change. */
export class DatabaseDefinitionStore<Definition extends { readonly name: string }>
  implements DefinitionStore<Definition>
{
  readonly #db: Db
  readonly #noun: string
  readonly #schema: z.ZodType<Definition>
  readonly #rows: ReturnType<typeof namedRows<typeof toolsets>>
  readonly #lists = new SharedReads<readonly Definition[]>()
  readonly #kept = new KeptReads<readonly Definition[]>(maxKept)

  constructor(db: Db, table: typeof toolsets | typeof limits, schema: z.ZodType<Definition>) {
    this.#db = db
    this.#noun = getTableName(table).replace(/s$/, '')
    this.#schema = schema
    this.#rows = namedRows(table as typeof toolsets, this.#noun)
  }

  list(workspace: string, state?: RegistryState) {
    const read = async () => (await this.#rows.list(this.#db, workspace)).flatMap((row) => this.#parse(row))
    return this.#kept.read(workspace, state, () => this.#lists.read(workspace, () => guard(read)))
  }

  get(workspace: string, name: string) {
    return guard(async () => {
      const row = await this.#rows.find(this.#db, workspace, name)
      return row === undefined ? undefined : this.#parse(row)[0]
    })
  }

  put(caller: Caller, definition: Definition, { expectedVersion }: Condition = {}) {
    const { name, ...fields } = definition
    return transact(this.#db, async (db) => {
      const { before } = await this.#rows.put(db, caller, name, { set: { definition: fields } })
      this.#check(name, before, expectedVersion)
      const action = `${this.#noun}.${before === undefined ? 'create' : 'change'}`
      await recordOfferedChange(db, caller, {
        action,
        subject: `${this.#noun}:${name}`,
        before: before?.definition,
        after: fields,
      })
    })
  }

  remove(caller: Caller, name: string, { expectedVersion }: Condition = {}) {
    return transact(this.#db, async (db) => {
      const before = await this.#rows.remove(db, caller, name)
      this.#check(name, before, expectedVersion)
      const change = { action: `${this.#noun}.remove`, subject: `${this.#noun}:${name}`, before: before.definition }
      await recordOfferedChange(db, caller, change)
    })
  }

  /** A definition that the current rules reject is not in effect. */
  #parse({ name, definition }: Row): readonly Definition[] {
    const parsed = this.#schema.safeParse({ ...definition, name })
    return parsed.success ? [parsed.data] : []
  }

  #check(name: string, before: Row | undefined, expected: Condition['expectedVersion']): void {
    const [current] = before === undefined ? [] : this.#parse(before)
    if (isExpectedText(current === undefined ? undefined : JSON.stringify(current), expected)) return
    throw new TooldexError('STALE', `The ${this.#noun} ${name} has changed: If-Match does not match its current ETag.`)
  }
}
