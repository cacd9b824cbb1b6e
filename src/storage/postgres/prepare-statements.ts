import type postgres from 'postgres'

// Long statements carry many rows, and no two of them are alike.
const longest = 4000

// How such a condition is best looked up depends on what is looked for, so it is planned each time.
const dependsOnValues = / ilike | @> /

type Client = postgres.Sql | postgres.TransactionSql

/** Lets the server keep statements it has seen: without that each one is parsed and planned anew, in two trips instead of one. */
export function prepareStatements(sql: postgres.Sql): postgres.Sql {
  prepareOn(sql)
  const begin = sql.begin as unknown as (...args: unknown[]) => unknown
  sql.begin = ((...args: unknown[]) => {
    const work = args.pop() as (inner: postgres.TransactionSql) => unknown
    return begin(...args, (inner: postgres.TransactionSql) => work(prepareOn(inner)))
  }) as typeof sql.begin
  return sql
}

function prepareOn<Given extends Client>(client: Given): Given {
  const unsafe = client.unsafe as unknown as (text: string, values?: unknown, options?: object) => unknown
  const prepared = (text: string, values?: unknown, options?: object) =>
    unsafe(text, values, { ...options, prepare: text.length < longest && !dependsOnValues.test(text) })
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
