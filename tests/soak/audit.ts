import postgres from 'postgres'
import type { Site } from './site.ts'
import type { History } from './traffic.ts'

interface Row {
  readonly id: string
  readonly status: string
  readonly tool: string
  readonly word: string | null
  readonly output: unknown
  readonly attempt: number
  readonly error: string | null
}

/** Every broken promise, in words; none is what is wanted. */
export async function audit(site: Site, history: History): Promise<readonly string[]> {
  const sql = postgres(site.database, { max: 1, onnotice: () => {} })
  try {
    const rows = await sql<Row[]>`select id, status, tool_name as tool, input_data->>'word' as word, attempt,
      output_data as output, error_code as error from tool_executions`
    return [
      ...checkStates(rows),
      ...checkAcknowledged(rows, history),
      ...checkNotes(rows, site.notes()),
      ...checkOutputs(rows),
      ...(await checkVersions(sql, history)),
      ...(await checkRest(sql)),
    ]
  } finally {
    await sql.end()
  }
}

const finals = ['SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED']

/** P1 and P2: all is over, and what did not succeed says why. */
const checkStates = (rows: readonly Row[]): readonly string[] => [
  ...rows.filter(({ status }) => !finals.includes(status)).map(({ id, status }) => `P2: ${id} is still ${status}`),
  ...rows
    .filter(({ status, error }) => status !== 'SUCCESS' && error === null)
    .map(({ id }) => `P1: ${id} does not say why`),
]

/** P1 and P4: what was acknowledged is there, and ended as was told. */
function checkAcknowledged(rows: readonly Row[], { acknowledged }: History): readonly string[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return [...acknowledged].flatMap(([id, { word, status }]) => {
    const row = byId.get(id)
    if (row === undefined) return [`P4: ${id} was acknowledged and is gone`]
    if (row.word !== word) return [`P6: ${id} was given ${word} and has ${row.word}`]
    return status === undefined || finals.indexOf(status) < 0 || row.status === status
      ? []
      : [`P1: ${id} was told to be ${status} and is ${row.status}`]
  })
}

/** P3: nothing was done twice, and what succeeded was done. */
function checkNotes(rows: readonly Row[], notes: readonly string[]): readonly string[] {
  const times = new Map<string, number>()
  for (const word of notes) times.set(word, (times.get(word) ?? 0) + 1)
  const done = rows.filter(({ tool, status }) => /_(note|slow)$/.test(tool) && status === 'SUCCESS')
  return [
    ...[...times].filter(([, count]) => count > 1).map(([word, count]) => `P3: ${word} was done ${count} times`),
    ...done.filter(({ word }) => !times.has(word ?? '')).map(({ id }) => `P3: ${id} succeeded and was not done`),
    ...rows.filter(({ attempt }) => attempt > 1).map(({ id, attempt }) => `P3: ${id} was tried ${attempt} times`),
  ]
}

/** P6: each has its own output, whatever ran beside it. */
const checkOutputs = (rows: readonly Row[]): readonly string[] =>
  rows
    .filter(({ status, tool, output, word }) => {
      if (status !== 'SUCCESS') return false
      const text = String(output)
      return tool.endsWith('_big') ? !text.startsWith(`${word}\n${word}\n`) : text !== `${word}\n`
    })
    .map(({ id, word }) => `P6: ${id} of ${word} has the output of another`)

/** P5: versions without gaps, one of them the latest, and at least as many as were acknowledged. */
async function checkVersions(sql: postgres.Sql, { changes }: History): Promise<readonly string[]> {
  const [row] = await sql<{ most: number; count: number; latest: number; current: number }[]>`
    select max(v.version)::int as most, count(*)::int as count, (count(*) filter (where v.is_latest))::int as latest,
      max(t.version)::int as current
    from tool_versions v join tools t on t.id = v.tool_id where t.name = 'changing'`
  if (row === undefined) return ['P5: the tool is gone']
  const { most, count, latest, current } = row
  const problems = []
  if (most !== count || current !== most) problems.push(`P5: ${count} versions up to ${most}, the tool has ${current}`)
  if (latest !== 1) problems.push(`P5: ${latest} versions are the latest`)
  if (count < changes + 1) problems.push(`P4: ${changes} changes were acknowledged and ${count - 1} are there`)
  return problems
}

/** Nothing is left of what only lives while something runs. */
async function checkRest(sql: postgres.Sql): Promise<readonly string[]> {
  const [row] = await sql<{ leases: number; orphans: number }[]>`select
    (select count(*) from tool_executions where lease_until is not null)::int as leases,
    (select count(*) from execution_results r where not exists
      (select 1 from tool_executions e where e.id = r.execution_id))::int as orphans`
  return row?.leases === 0 && row.orphans === 0 ? [] : [`P2: ${JSON.stringify(row)} are left over`]
}
