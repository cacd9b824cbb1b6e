import type { OperationInput } from 'tooldex/client'

type Query = OperationInput<'executions.list'>
type Status = NonNullable<Query['status']>[number]

/** The statuses in the order of a run. */
export const statuses = ['PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED'] as const satisfies Status[]

/** Periods of the list, in milliseconds. */
export const periods = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 } as const

type Search = Readonly<Record<string, string | undefined>>

const isPeriod = (text: string): text is keyof typeof periods => Object.hasOwn(periods, text)

/** The statuses of the query of a URL; unknown ones are ignored. */
export const statusesOf = ({ status = '' }: Search): readonly Status[] =>
  statuses.filter((each) => status.split(',').includes(each))

/** The query of a list of runs, from the query of a URL. */
export function toQuery(search: Search, now = Date.now()): Query {
  const text = (name: string) => (search[name] ? { [name]: search[name] } : {})
  const status = statusesOf(search)
  const period = search.period ?? ''
  return {
    ...text('tool'),
    ...text('caller'),
    ...text('trace'),
    ...text('parent'),
    ...(status.length === 0 ? {} : { status: [...status] }),
    ...(isPeriod(period) ? { since: new Date(now - periods[period]).toISOString() } : {}),
    ...(search.purpose === 'call' || search.purpose === 'replay' ? { purpose: search.purpose } : {}),
  }
}
