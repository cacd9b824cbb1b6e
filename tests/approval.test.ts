import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from './support/connect.ts'
import { eventually, makeKey, putPolicies } from './support/keys.ts'
import { registerScript } from './support/registered-tools.ts'
import { expectProblem } from './support/rest.ts'
import { runCli } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFile } from './support/temp-folder.ts'

let server: TestServer
let [caller, boss, both, reader] = ['', '', '', '']

beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
  await registerScript(server, 'pays', { script: 'echo "paid $1"', annotations: { requiresApproval: true } })
  await registerScript(server, 'mails', { script: 'echo "mailed $1"' })
  caller = await makeKey(server, 'caller', ['call'])
  boss = await makeKey(server, 'boss', ['write'])
  both = await makeKey(server, 'both', ['call', 'write'])
  reader = await makeKey(server, 'reader', ['read'])
  await putPolicies(server, [
    {
      name: 'careful',
      policy: {
        default: 'enabled',
        tools: { mails: { requireApproval: true }, coreutils_wc: { requireApproval: true } },
        callers: ['caller'],
      },
    },
  ])
})
afterAll(() => server?.stop())

const execute = async (tool: string, body: object, key = caller) =>
  server.request('POST', `/tools/${tool}/execute`, { body, key })
const read = async (id: string) => (await server.request('GET', `/executions/${id}`)).body
const ended = (id: string) =>
  eventually(
    () => read(id),
    ({ status }) => !['PENDING', 'RUNNING'].includes(status),
  )
const audit = async (id: string) => (await server.request('GET', `/audit?subject=execution:${id}`)).body.items

describe('a call that requires approval', () => {
  it.each(['pays', 'mails'])('waits, because of the tool or a policy, and runs after approval (%s)', async (tool) => {
    const answer = await execute(tool, { input: { word: 'x' }, wait: true })
    expect(answer.status).toBe(202)
    const { id, ...run } = answer.body
    expect(run).toMatchObject({ status: 'PENDING', reason: 'approval', attempt: 0, callerId: 'key:caller' })
    const hours = (Date.parse(run.expiresAt) - Date.parse(run.createdAt)) / 3_600_000
    expect(Math.round(hours)).toBe(24)
    expect((await server.request('GET', '/queue')).body.waitingForApproval).toBe(1)
    const yes = await server.request('POST', `/executions/${id}/approve`, { key: boss, body: { note: 'go on' } })
    expect(yes).toMatchObject({ status: 200, body: { status: 'PENDING', reason: 'queued' } })
    expect(await ended(id)).toMatchObject({ status: 'SUCCESS', attempt: 1, outputData: expect.stringContaining('x') })
    expect(await audit(id)).toMatchObject([
      {
        action: 'execution.approve',
        actor: 'key:boss',
        before: { status: 'PENDING', reason: 'approval', tool, caller: 'key:caller' },
        after: { status: 'PENDING', note: 'go on' },
      },
    ])
    expectProblem(await server.request('POST', `/executions/${id}/approve`, { key: boss }), 409, 'ILLEGAL_STEP')
  })

  it('binds only the callers of the policy', async () => {
    expect((await execute('mails', { input: { word: 'y' }, wait: true }, both)).body.status).toBe('SUCCESS')
  })

  it('holds for tools of configs, too', async () => {
    const file = tempFile('three.txt', '1\n2\n3\n', server.scripts)
    const { body } = await execute('coreutils_wc', { input: { files: [file], lines: true }, wait: true })
    expect(body).toMatchObject({ status: 'PENDING', reason: 'approval' })
    await server.request('POST', `/executions/${body.id}/approve`, { key: boss })
    expect((await ended(body.id)).status).toBe('SUCCESS')
  })

  it('is refused with a note that the caller reads', async () => {
    const { body } = await execute('pays', { input: { word: 'no' } })
    const no = await server.request('POST', `/executions/${body.id}/refuse`, { key: boss, body: { note: 'too much' } })
    const end = { status: 'CANCELLED', errorCode: 'APPROVAL_REFUSED', errorMessage: 'The call was refused: too much' }
    expect(no.body).toMatchObject(end)
    const own = await server.request('GET', `/executions/${body.id}`, { key: caller })
    expect(own.body).toMatchObject({ ...end, attempt: 0, outputData: null })
    expect(await audit(body.id)).toMatchObject([
      { action: 'execution.refuse', after: { status: 'CANCELLED', note: 'too much' } },
    ])
    expectProblem(await server.request('POST', `/executions/${body.id}/approve`, { key: boss }), 409, 'ILLEGAL_STEP')
  })

  it('is decided only with the scope, and by the calling key only if it is an admin', async () => {
    const { body } = await execute('pays', { input: { word: 'mine' } }, both)
    for (const step of ['approve', 'refuse']) {
      for (const key of [caller, reader])
        expectProblem(await server.request('POST', `/executions/${body.id}/${step}`, { key }), 403, 'FORBIDDEN')
      const own = await server.request('POST', `/executions/${body.id}/${step}`, { key: both })
      expectProblem(own, 403, 'FORBIDDEN')
      expect(own.body.detail).toContain('The caller may not approve or refuse their own call')
    }
    expect((await read(body.id)).reason).toBe('approval')
    expect((await server.request('POST', `/executions/${body.id}/refuse`, { key: boss })).status).toBe(200)
    const admins = await execute('pays', { input: { word: 'admin' } }, server.key)
    expect((await server.request('POST', `/executions/${admins.body.id}/approve`)).status).toBe(200)
    expect((await ended(admins.body.id)).status).toBe('SUCCESS')
  })

  it('can be cancelled by its caller, and by no other caller', async () => {
    const other = await makeKey(server, 'other', ['call'])
    const { body } = await execute('pays', { input: { word: 'x' } })
    expectProblem(await server.request('POST', `/executions/${body.id}/cancel`, { key: other }), 403, 'FORBIDDEN')
    expect((await server.request('POST', `/executions/${body.id}/cancel`, { key: caller })).body.status).toBe(
      'CANCELLED',
    )
  })

  it('is announced in search, descriptions and dry runs', async () => {
    const search = (key: string) => server.request('POST', '/search', { key, body: { query: 'mails' } })
    const waits = { state: 'needs-approval', reason: 'a person must approve each call' }
    const found = await eventually(
      () => search(caller),
      ({ body }) => body.results[0]?.readiness !== undefined,
    )
    expect(found.body.results[0]).toMatchObject({ name: 'mails', readiness: waits })
    expect((await search(both)).body.results[0].readiness).toBeUndefined()
    const only = { key: caller, body: { query: 'says', readiness: ['needs-approval'] } }
    const names = (await server.request('POST', '/search', only)).body.results.map(({ name }: { name: string }) => name)
    expect(names.sort()).toEqual(['coreutils_wc', 'mails', 'pays'])
    const described = await server.request('POST', '/describe', {
      key: caller,
      body: { ids: ['mails', 'pays', 'coreutils_wc', 'coreutils_cat'] },
    })
    expect(described.body.tools.map(({ readiness }: { readiness: unknown }) => readiness)).toEqual([
      waits,
      waits,
      waits,
      undefined,
    ])
    const dry = await execute('pays', { input: { word: 'x' }, dryRun: true })
    expect(dry).toMatchObject({
      status: 200,
      body: { dryRun: true, needsApproval: true, approvalBy: ['the tool itself'] },
    })
    for (const tool of ['mails', 'coreutils_wc']) {
      const body = { input: tool === 'mails' ? { word: 'x' } : {}, dryRun: true }
      expect((await execute(tool, body)).body).toMatchObject({ approvalBy: ['the policy careful'] })
      expect((await execute(tool, body, both)).body).toMatchObject({ needsApproval: false, approvalBy: [] })
    }
    const words = ['call', '--server', server.url, '--dry-run', 'mails', '--word', 'x']
    const shown = await runInline(words, { env: { TOOLDEX_API_KEY: caller } })
    expect(shown.stdout, shown.stderr).toContain('after approval (required by the policy careful)')
  })

  it('is returned to a model as APPROVAL_NEEDED', async () => {
    const { body } = await server.request('POST', '/llm/tools/pays/invoke', {
      key: caller,
      body: { arguments: { word: 'm' } },
    })
    expect(body).toMatchObject({ success: false, result: null, error: { code: 'APPROVAL_NEEDED' } })
    expect((await read(body.executionId)).reason).toBe('approval')
  })

  it('can be waited for from the command line', async () => {
    const env = { TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: caller, TOOLDEX_URL: '', DATABASE_URL: '' }
    const left = await runCli(['call', 'pays', 'left'], { env })
    expect(left.code).toBe(75)
    expect(left.stderr).toMatch(/waits for approval until \S+: tooldex executions approve \S+\n/)
    const waiting = runCli(['call', '--wait', 'pays', 'patient'], { env })
    const list = () => server.request('GET', '/executions?status=PENDING&tool=pays&limit=1')
    const open = await eventually(
      list,
      ({ body }) => body.items[0] !== undefined && !left.stderr.includes(body.items[0].id),
    )
    const { id } = open.body.items[0]
    const said = await runInline(['executions', 'approve', id], { env: { ...env, TOOLDEX_API_KEY: boss } })
    expect(said.stdout).toBe(`${id} is PENDING\n`)
    expect(await waiting).toMatchObject({ code: 0, stdout: 'paid patient\n' })
  })
})

it('a call expires without a decision, with its own error code', async () => {
  const quick = await startServer({
    words: ['coreutils'],
    env: { TOOLDEX_APPROVAL_MS: '700', TOOLDEX_LEASE_MS: '1500' },
  })
  try {
    await registerScript(quick, 'pays', { script: 'echo paid', annotations: { requiresApproval: true } })
    const { body } = await quick.request('POST', '/tools/pays/execute', { body: { input: { word: 'x' } } })
    const get = async () => (await quick.request('GET', `/executions/${body.id}`)).body
    expect(await eventually(get, ({ status }) => status !== 'PENDING')).toMatchObject({
      status: 'CANCELLED',
      errorCode: 'APPROVAL_EXPIRED',
      errorMessage: 'Nobody approved the call in time.',
      attempt: 0,
    })
    expectProblem(await quick.request('POST', `/executions/${body.id}/approve`), 409, 'ILLEGAL_STEP')
  } finally {
    await quick.stop()
  }
})

it('a call that requires approval is rejected on stdio without a database', async () => {
  const policy = tempFile('policy.yaml', 'default: enabled\ntools:\n  coreutils_wc:\n    require_approval: true\n')
  const { client } = await connect(['coreutils', '--policy', policy])
  const result = await client.callTool({
    name: 'call_tool',
    arguments: { name: 'coreutils_wc', arguments: { file: policy } },
  })
  expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'POLICY_REFUSED' } } })
})
