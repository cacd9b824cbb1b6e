import { sql } from 'drizzle-orm'
import type { Db } from '../database.ts'
import { causeOf } from '../failures.ts'
import { rowsOf } from '../rows-of.ts'
import { type DumpRow, dumpRefused } from './format.ts'

const maxRows = 500
const maxCharacters = 2_000_000

/** Inserts rows of a file in batches. */
export class RowInserter {
  readonly #db: Db
  /** The existing tables, and whether their rows reference each other, so that all must be inserted in one statement. */
  readonly #tables: ReadonlyMap<string, boolean>
  #table = ''
  #rows: string[] = []
  #characters = 0

  private constructor(db: Db, tables: ReadonlyMap<string, boolean>) {
    this.#db = db
    this.#tables = tables
  }

  static async start(db: Db): Promise<RowInserter> {
    const tables = rowsOf<{ name: string; cyclic: boolean }>(
      await db.execute(sql`select c.relname as name, exists (
          select 1 from pg_constraint k where k.conrelid = c.oid and k.confrelid = c.oid) as cyclic
        from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
          and c.relname <> 'tooldex_migrations'`),
    )
    return new RowInserter(db, new Map(tables.map(({ name, cyclic }) => [name, cyclic])))
  }

  async add({ table, row }: DumpRow): Promise<void> {
    if (!this.#tables.has(table)) throw dumpRefused(`the table ${table} does not exist`)
    const full = this.#rows.length >= maxRows || this.#characters + row.length > maxCharacters
    if (table !== this.#table || (full && this.#tables.get(table) === false)) await this.#flush()
    this.#table = table
    this.#rows.push(row)
    this.#characters += row.length
  }

  /** Inserts the rest and sets identity counters behind the last row. */
  async finish(): Promise<void> {
    await this.#flush()
    const counters = rowsOf<{ name: string; column: string }>(
      await this.#db.execute(sql`select table_name as name, column_name as column from information_schema.columns
        where table_schema = 'public' and is_identity = 'YES'`),
    )
    for (const { name, column } of counters)
      await this.#db.execute(
        sql.raw(
          `select setval(pg_get_serial_sequence('${name}', '${column}'), coalesce(max(${column}), 0) + 1, false) from ${name}`,
        ),
      )
  }

  async #flush(): Promise<void> {
    if (this.#rows.length === 0) return
    const rows = `[${this.#rows.join(',')}]`
    const into = sql.raw(this.#table)
    this.#rows = []
    this.#characters = 0
    try {
      await this.#db.execute(sql`insert into ${into} overriding system value
        select * from json_populate_recordset(null::${into}, ${rows}::text::json)`)
    } catch (thrown) {
      const { code, text } = causeOf(thrown)
      throw code?.startsWith('22') || code?.startsWith('23') ? dumpRefused(`${text}`, thrown) : thrown
    }
  }
}
