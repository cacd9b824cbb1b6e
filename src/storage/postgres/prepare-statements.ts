import type postgres from 'postgres'

// Long statements contain many rows and are never repeated.
const maxLength = 4000

// The best plan for such a condition depends on its values, so it is planned each time.
const dependsOnValues = / ilike | @> /

type Client = postgres.Sql | postgres.TransactionSql

/** Uses prepared statements: otherwise the server parses and plans each one again, in two round trips instead of one. */
export function prepareStatements(sql: postgres.Sql): postgres.Sql {
  prepareOn(sql)
  const begin = sql.begin as unknown as (...args: unknown[]) => unknown
  sql.begin = ((...args: unknown[]) => {
    const work = args.pop() as (inner: postgres.TransactionSql) => unknown
    return begin(...args, (inner: postgres.TransactionSql) => work(prepareOn(inner)))
  }) as typeof sql.begin
  return sql
}

function prepareOn<AnyClient extends Client>(client: AnyClient): AnyClient {
  const unsafe = client.unsafe as unknown as (text: string, values?: unknown, options?: object) => unknown
  const prepared = (text: string, values?: unknown, options?: object) =>
    unsafe(text, values, { ...options, prepare: text.length < maxLength && !dependsOnValues.test(text) })
  ;(client as { unsafe: unknown }).unsafe = prepared
  if ('savepoint' in client) {
    const savepoint = client.savepoint as unknown as (...args: unknown[]) => unknown
    ;(client as { savepoint: unknown }).savepoint = (...args: unknown[]) => {
      const work = args.pop() as (inner: postgres.TransactionSql) => unknown
      return savepoint(...args, (inner: postgres.TransactionSql) => work(prepareOn(inner)))
    }
  }
  return client
}
