import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toTooldexError } from '../src/base/errors.ts'
import { invoke } from '../src/operations/invoke.ts'
import { deletePolicy, putPolicy } from '../src/operations/registry/policies.ts'
import { createLocalClient } from '../src/operations/registry-client/registry-client.ts'
import { executeTool } from '../src/operations/runs/execute.ts'
import { simulatePolicy } from '../src/operations/simulation/simulate-policy.ts'
import { openRecorded } from './support/open-recorded.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile } from './support/temp-folder.ts'

let world: Awaited<ReturnType<typeof openRecorded>>
const as = (actor: string) => ({
  ...world.context,
  caller: { workspace: 'default', actor },
  scopes: new Set(['read', 'call'] as const),
})
const simulate = (input: Record<string, unknown>) => invoke(simulatePolicy, input, world.context)

const calls = [
  ['key:ci', 'say_word', { word: 'fine', count: 2 }],
  ['key:ci', 'say_word', { word: 'Loud', count: 2 }],
  ['key:ci', 'say_word', { word: 'fine', count: 9 }],
  ['key:ann', 'say_word', { word: 'Loud', count: 9 }],
  ['key:ci', 'pay_bill', { word: 'rent' }],
  ['key:ci', 'wipe_disk', { word: 'all' }],
  ['key:ann', 'wipe_disk', { word: 'all' }],
] as const
const policy = {
  callers: ['ci'],
  default: 'disabled',
  tools: {
    say_word: { args: { word: { pattern: '[a-z]+' }, count: { max: 3 } } },
    pay_bill: { requireApproval: true },
  },
}
const ids: string[] = []

beforeAll(async () => {
  world = await openRecorded()
  for (const name of ['say_word', 'pay_bill', 'wipe_disk']) await world.register(name, { script: 'echo "$1"' })
  for (const [actor, idOrName, input] of calls) {
    const execution = await invoke(executeTool, { idOrName, input, wait: true }, as(actor))
    ids.push('id' in execution ? execution.id : '')
  }
})
afterAll(() => world.close())

/** The outcome of the same call now. */
async function real(actor: string, idOrName: string, input: object): Promise<string> {
  try {
    const execution = await invoke(executeTool, { idOrName, input, wait: true }, as(actor))
    return 'reason' in execution && execution.reason === 'approval' ? 'approval' : 'pass'
  } catch (thrown) {
    const { code } = toTooldexError(thrown)
    return { POLICY_REFUSED: 'bounded', TOOL_NOT_FOUND: 'blocked' }[code as string] ?? code
  }
}

it('finds what a policy would have blocked, bounded and sent to approval, by caller and tool', async () => {
  const report = await simulate({ policy })
  expect(report).toMatchObject({
    executions: 7,
    truncated: false,
    outcomes: { pass: 3, approval: 1, bounded: 2, blocked: 1, undecided: 0 },
    newly: { blocked: 1, bounded: 2, approval: 1, allowed: 0 },
  })
  const [first] = report.groups
  expect(first).toMatchObject({ caller: 'key:ci', tool: 'say_word', executions: 3, outcomes: { pass: 1, bounded: 2 } })
  expect(first?.examples).toEqual([
    expect.objectContaining({ executionId: ids[2], outcome: 'bounded', current: 'pass', argument: 'count', value: 9 }),
    expect.objectContaining({
      executionId: ids[1],
      outcome: 'bounded',
      current: 'pass',
      argument: 'word',
      value: 'Loud',
    }),
  ])
  expect(first?.examples[0]?.message).toContain('exceeds maximum 3')
  expect(report.groups.find(({ tool }) => tool === 'pay_bill')?.examples).toMatchObject([{ outcome: 'approval' }])
  expect(report.groups.filter(({ caller }) => caller === 'key:ann').flatMap(({ examples }) => examples)).toEqual([])
})

it('decides as the calls themselves are decided under the stored policy, and compares with it', async () => {
  const outcomeOf = new Map(
    (await simulate({ policy })).groups
      .flatMap(({ examples }) => examples)
      .map((each) => [each.executionId, each.outcome]),
  )
  await invoke(putPolicy, { name: 'narrow', ...policy }, world.context)
  await world.sync()
  const outcomes = await Promise.all(calls.map(([actor, tool, input]) => real(actor, tool, input)))
  expect(outcomes).toEqual(ids.map((id) => outcomeOf.get(id) ?? 'pass'))
  const open = { default: 'enabled', tools: { wipe_disk: { requireApproval: true } } }
  const since = { tool: 'wipe_disk', policy: open }
  expect(await simulate(since)).toMatchObject({
    newly: { approval: 2, blocked: 0 },
    outcomes: { blocked: 1, approval: 2 },
  })
  expect(await simulate({ ...since, name: 'narrow' })).toMatchObject({
    newly: { approval: 3 },
    outcomes: { approval: 3 },
  })
  expect(await simulate({ policy: { default: 'enabled' }, name: 'narrow', caller: 'key:ci' })).toMatchObject({
    newly: { allowed: 5 },
    outcomes: { blocked: 0, bounded: 0, approval: 0 },
  })
  await invoke(deletePolicy, { name: 'narrow' }, world.context)
})

it('streams a long history within its limits', async () => {
  await world.database.db.execute(sql`insert into tool_executions (workspace_id, tool_id, tool_name, version, caller_id, input_data, status)
    select 'default', (select id from tools where name = 'say_word'), 'say_word', 1, 'key:many' || n % 700, json_build_object('word', 'w', 'count', n % 5), 'SUCCESS'
    from generate_series(1, 3000) n`)
  const report = await simulate({ policy: { ...policy, callers: undefined }, limit: 2500 })
  expect([report.executions, report.truncated, report.groups.length]).toEqual([2500, true, 500])
  const whole = await simulate({ policy: { ...policy, callers: undefined }, tool: 'say_word', caller: 'key:many4' })
  expect([whole.executions, whole.truncated]).toEqual([5, false])
  await world.database.db.execute(sql`delete from tool_executions where caller_id like 'key:many%'`)
})

it('leaves calls undecided whose tool is gone, unless its name decides', async () => {
  await world.database.db.execute(sql`insert into tool_executions (workspace_id, tool_name, version, caller_id, input_data, status)
    values ('default', 'gone_tool', 1, 'key:ci', '{"a":1}', 'SUCCESS')`)
  const bounded = { default: 'enabled', tools: { gone_tool: { args: { a: { max: 0 } } } } }
  expect(await simulate({ tool: 'gone_tool', policy: bounded })).toMatchObject({
    outcomes: { undecided: 1 },
    groups: [{ examples: [{ message: 'gone_tool was deleted.' }] }],
  })
  expect(await simulate({ tool: 'gone_tool', policy })).toMatchObject({ outcomes: { blocked: 1 } })
  await world.database.db.execute(sql`delete from tool_executions where tool_name = 'gone_tool'`)
})

it('rejects an invalid policy with the location', async () => {
  const tools = { say_word: { args: { word: { pattern: '(' } } } }
  await expect(simulate({ policy: { tools } })).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    problems: [{ pointer: '/policy/tools/say_word/args/word/pattern' }],
  })
})

it('is a command with a table, JSON and an exit code for CI', async () => {
  const client = createLocalClient(world.context)
  const run = (...words: string[]) =>
    runInProcess(['policies', 'simulate', ...words], { openRegistry: async () => client })
  const file = tempFile(
    'policy.yaml',
    `callers: [ci]
default: enabled
tools:
  say_word: { args: { count: { max: 3 } } }
`,
  )
  const { out, code } = await run(file)
  expect([code, out]).toEqual([0, expect.stringMatching(/recorded call\(s\) since 20/)])
  expect(out).toMatch(new RegExp(`${ids[2]} key:ci say_word: bounded \\(now: pass\\)\\. Argument 'count': value 9`))
  expect((await run(file, '--fail-on-blocked')).code).toBe(1)
  expect((await run(file, '--fail-on-blocked', '--caller', 'key:ann')).code).toBe(0)
  expect(JSON.parse((await run(file, '--json', '--days', '1')).out)).toMatchObject({ newly: { bounded: 1 } })
  expect((await run(file, '--caller', 'key:nobody')).out).toContain('nothing to simulate')
  const wrong = tempFile('wrong.yaml', 'tools:\n  say_word: { arg: {} }\n')
  expect((await run(wrong)).err).toContain('wrong.yaml:2:')
  expect((await run(join(file, 'missing.yaml'))).err).toContain('missing.yaml')
})
