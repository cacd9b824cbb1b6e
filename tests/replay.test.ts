import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeKey, putPolicies } from './support/keys.ts'
import { registerScript, scriptTool } from './support/registered-tools.ts'
import { expectProblem } from './support/rest.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
const readOnly = { readOnlyHint: true }

beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
})
afterAll(() => server?.stop())

const execute = (tool: string, input: object) =>
  server.request('POST', `/tools/${tool}/execute`, { body: { input, wait: true } })
const configOf = (name: string, script: string) => scriptTool(name, { script }, server.scripts).executorConfig
const propose = async (tool: string, change: object) => {
  const { status, body, text } = await server.request('POST', `/tools/${tool}/proposals`, { body: { change } })
  expect(status, text).toBe(201)
  return body.id as string
}
const replay = (id: string, body: object = {}) => server.request('POST', `/proposals/${id}/replay`, { body })
const env = () => ({ TOOLDEX_URL: '', DATABASE_URL: '', TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key })

/** A read-only tool that has been called with each of these words. */
async function usedTool(name: string, words: readonly string[], script = 'echo "said $1"') {
  await registerScript(server, name, { script, annotations: readOnly })
  for (const word of words) expect((await execute(name, { word })).body.status).toBe('SUCCESS')
}

describe('replaying recorded inputs against a proposal', () => {
  it('reports equal, different and failed outputs, with the differences', async () => {
    await usedTool('echoes', ['a', 'b', 'c', 'b'])
    await execute('echoes', { word: 'x', count: 2 })
    const script = 'case "$1" in b) echo "now $1";; c) exit 4;; *) echo "said $1";; esac'
    const id = await propose('echoes', { executorConfig: configOf('echoes_next', script) })
    const { status, body } = await replay(id)
    expect(status).toBe(200)
    expect(body).toMatchObject({ same: 2, differs: 1, failed: 1, version: 1, by: 'key:admin' })
    const byWord = new Map(body.runs.map((run: { inputData: { word: string } }) => [run.inputData.word, run]))
    expect(byWord.get('b')).toMatchObject({
      outcome: 'differs',
      differences: [{ pointer: '', before: 'said b\n', after: 'now b\n' }],
      error: null,
    })
    expect(byWord.get('c')).toMatchObject({ outcome: 'failed', error: { code: 'EXECUTION_FAILED' } })
    const kept = await server.request('GET', `/proposals/${id}`)
    expect(kept.body.replay).toEqual(body)
    const [listed] = (await server.request('GET', '/tools/echoes/proposals')).body.items
    expect(listed.replay).toMatchObject({ same: 2, differs: 1, failed: 1 })
    expect(listed.replay.runs).toBeUndefined()
    const audit = await server.request('GET', `/audit?subject=proposal:${id}`)
    expect(audit.body.items[0]).toMatchObject({ action: 'proposal.replay', after: { same: 2, differs: 1, failed: 1 } })
  })

  it('is recorded separately from calls, and not used by later replays', async () => {
    const calls = await server.request('GET', '/executions?tool=echoes&limit=100')
    expect(calls.body.items).toHaveLength(5)
    const replays = await server.request('GET', '/executions?tool=echoes&purpose=replay&limit=100')
    expect(replays.body.items).toHaveLength(4)
    expect(replays.body.items[0]).toMatchObject({ version: null, callerId: 'key:admin' })
    expect((await server.request('GET', '/tools/echoes/executions')).body.items).toHaveLength(5)
  })

  it('finds differences deep in JSON, and beyond the beginning of a large output', async () => {
    const print = (last: number, odd = 1) =>
      `printf '{"rows":['; for i in $(seq 20000); do printf '%d,' $i; done; printf '${last}],"meta":{"odd":${odd}}}'`
    await registerScript(server, 'large', { script: print(7), annotations: readOnly, outputSchema: { type: 'object' } })
    const run = await execute('large', { word: 'x' })
    expect(run.body).toMatchObject({ status: 'SUCCESS', result: { mediaType: 'application/json' } })
    const same = await propose('large', { executorConfig: configOf('large_same', `${print(7)} # another text`) })
    expect((await replay(same)).body).toMatchObject({ same: 1, differs: 0, failed: 0 })
    const other = await propose('large', { executorConfig: configOf('large_next', print(8, 2)) })
    const { body } = await replay(other)
    expect(body.runs[0].differences).toEqual([
      { pointer: '/rows/20000', before: 7, after: 8 },
      { pointer: '/meta/odd', before: 1, after: 2 },
    ])
  })

  it('counts an input that the change does not take any more as failed, without running it', async () => {
    await usedTool('narrower', ['long word'])
    const inputSchema = {
      type: 'object',
      properties: { word: { type: 'string', maxLength: 3 }, count: { type: 'integer' } },
    }
    const id = await propose('narrower', { inputSchema })
    const { body } = await replay(id)
    expect(body).toMatchObject({ same: 0, failed: 1, runs: [{ executionId: null, error: { code: 'INPUT_INVALID' } }] })
  })

  it('is refused where a run might change something: as it is, or with the change', async () => {
    await registerScript(server, 'writes', { script: `echo ran >> '${server.home}/written'; echo ok` })
    await execute('writes', { word: 'x' })
    const id = await propose('writes', { annotations: readOnly, executorConfig: configOf('writes_next', 'echo ok') })
    const refused = await replay(id)
    expectProblem(refused, 409, 'ILLEGAL_STEP')
    expect(refused.body.detail).toContain('writes is not marked read-only as it is')
    await usedTool('turns', ['x'])
    const turned = await replay(await propose('turns', { annotations: {} }))
    expectProblem(turned, 409, 'ILLEGAL_STEP')
    expect(turned.body.detail).toContain('not marked read-only with the change')
    expect((await server.request('GET', '/executions?purpose=replay&tool=writes')).body.items).toEqual([])
  })

  it('needs the scopes to write and to call, and of an admin where the change is code', async () => {
    const [write, both] = [await makeKey(server, 'w', ['write']), await makeKey(server, 'wc', ['write', 'call'])]
    await usedTool('guarded', ['x'])
    const words = await propose('guarded', { description: 'Says it better.' })
    const code = await propose('guarded', { executorConfig: configOf('guarded_next', 'echo hacked') })
    const as = (key: string, id: string) => server.request('POST', `/proposals/${id}/replay`, { key, body: {} })
    expectProblem(await as(write, words), 403, 'FORBIDDEN')
    expectProblem(await as(both, code), 403, 'FORBIDDEN')
    expect((await as(both, words)).body).toMatchObject({ same: 1, by: 'key:wc' })
    expect((await server.request('GET', '/executions?purpose=replay&tool=guarded')).body.items).toHaveLength(1)
  })

  it('can be started and read by commands', async () => {
    await usedTool('spoken', ['one', 'two'])
    const id = await propose('spoken', { executorConfig: configOf('spoken_next', 'echo "said ${1%wo}"') })
    const { code, stdout } = await runInline(['tools', 'replay', id, '--limit', '5'], { env: env() })
    expect(code).toBe(0)
    expect(stdout).toBe(
      '1 the same as version 1, 1 different, 0 failed\ndiffers: {"word":"two","count":1}\n    output\n      - "said two\\n"\n      + "said t\\n"\n',
    )
    const shown = await runInline(['tools', 'proposal', id], { env: env() })
    expect(shown.stdout).toMatch(
      /^proposal \S+: OPEN, made from version 1\nchanges executorConfig .*\nreplayed \S+ by key:admin: 1 the same/,
    )
  })
})

describe('a policy that requires a replay', () => {
  it('lets a change be accepted only after enough recorded inputs gave the same', async () => {
    await usedTool('gated', ['a', 'b'])
    await putPolicies(server, [
      { name: 'tried', policy: { default: 'enabled', tools: { gated: { requireReplay: 3 } }, callers: ['nobody'] } },
    ])
    const good = await propose('gated', { executorConfig: configOf('gated_next', 'printf "said %s\\n" "$1"') })
    const accept = (id: string) => server.request('POST', `/proposals/${id}/accept`, { body: {} })
    const untried = await accept(good)
    expectProblem(untried, 409, 'ILLEGAL_STEP')
    expect(untried.body).toMatchObject({
      detail: expect.stringContaining('none was replayed'),
      hint: `Run: tooldex tools replay ${good} --limit 20`,
    })
    await replay(good)
    const few = await accept(good)
    expect(few.body).toMatchObject({
      detail: expect.stringContaining('2 matched, 0 differed and 0 failed'),
      hint: expect.stringContaining('Call the current tool a few more times'),
    })
    await execute('gated', { word: 'c' })
    await replay(good)
    expect((await accept(good)).body.tool).toMatchObject({ name: 'gated', version: 2 })
  })

  it('lets none pass that differs, and none that was tried against another version', async () => {
    for (const word of ['d', 'e', 'f']) await execute('gated', { word })
    const accept = (id: string) => server.request('POST', `/proposals/${id}/accept`, { body: {} })
    const bad = await propose('gated', { executorConfig: configOf('gated_bad', 'echo "said ${1%f}"') })
    await replay(bad)
    expect((await accept(bad)).body.detail).toContain('2 matched, 1 differed and 0 failed')
    const good = await propose('gated', { executorConfig: configOf('gated_again', 'echo said "$1"') })
    await replay(good)
    await server.request('PATCH', '/tools/gated', { body: { notes: 'Words only.' } })
    expect((await accept(good)).body.detail).toContain('replayed against version 2, and the current version is 3')
    await replay(good)
    expect((await accept(good)).status).toBe(200)
  })

  it('refuses a change of what the tool does by edit or by files, and lets words and going back through', async () => {
    const executorConfig = configOf('gated_edit', 'echo edited')
    const edit = await server.request('PATCH', '/tools/gated', { body: { executorConfig } })
    expectProblem(edit, 409, 'ILLEGAL_STEP')
    expect(edit.body.hint).toContain('tooldex tools propose')
    const { body: tool } = await server.request('GET', '/tools/gated')
    const { id: _id, status: _s, version: _v, createdAt: _c, updatedAt: _u, categoryId: _k, ...content } = tool
    const bundle = { tooldex: 1, tools: [{ ...content, executorConfig }] }
    expectProblem(await server.request('POST', '/bundle', { body: { bundle } }), 409, 'ILLEGAL_STEP')
    expect((await server.request('PATCH', '/tools/gated', { body: { description: 'Says more.' } })).status).toBe(200)
    expect((await server.request('POST', '/tools/gated/rollback', { body: { version: 1 } })).status).toBe(200)
    await registerScript(server, 'gated_draft', { script: 'echo', status: 'DRAFT' })
    await putPolicies(server, [
      { name: 'new', policy: { default: 'enabled', tools: { gated_draft: { requireReplay: 1 } } } },
    ])
    expect((await server.request('PATCH', '/tools/gated_draft', { body: { executorConfig } })).status).toBe(200)
    expect((await server.request('POST', '/tools/gated_draft/activate')).status).toBe(200)
  })
})
