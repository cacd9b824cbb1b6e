import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { changingServer, openSources, tool } from './support/open-sources.ts'

type Context = Awaited<ReturnType<typeof openSources>>['context']

/** The output of a call; its error code if it failed. */
async function call(context: Context, name: string, args: object = {}): Promise<unknown> {
  const answer = await invoke(callTool, { name, arguments: args }, context)
  return 'outcome' in answer ? (answer.outcome.errorCode ?? answer.outcome.output) : answer
}

const archive = () => changingServer({ tools: [tool('read'), tool('write')], instructions: 'Read first.' })

it('117: adds, approves and calls a server over REST; nothing is started before its command is approved', async () => {
  const { request, context } = await openSources()
  const server = archive()
  const added = await request('POST', '/sources', { body: { name: 'archive', ...server.definition } })
  expect(added).toMatchObject({ status: 201, body: { state: 'configured', isApproved: false, tools: 0 } })
  expect(added.body.approval.command).toContain(server.definition.args[1])
  expect((await request('POST', '/sources/archive/refresh')).status).toBe(424)
  expect((await request('POST', '/sources/archive/approve', { body: { hash: 'other' } })).status).toBe(412)
  expect(server.starts()).toEqual([])
  const { hash } = added.body.approval
  const approved = await request('POST', '/sources/archive/approve', { body: { hash } })
  expect(approved).toMatchObject({ status: 200, body: { state: 'started', tools: 2, instructions: 'Read first.' } })
  expect(approved.body.items.tools).toContainEqual({
    name: 'read',
    tool: 'archive__read',
    description: expect.any(String),
  })
  const found = await request('POST', '/search', { body: { query: 'runs read of the archive', limit: 1 } })
  expect(found.body.results).toMatchObject([{ id: 'archive:archive__read', name: 'archive__read' }])
  expect(await call(context, 'archive__read')).toBe('read ran')
  expect(server.starts()).toHaveLength(1)
  expect((await request('GET', '/sources')).body.items).toContainEqual(
    expect.objectContaining({ kind: 'mcp', name: 'archive', state: 'started', tools: 2, transport: 'stdio' }),
  )
  const actions = (await request('GET', '/audit')).body.items.map(({ action }: { action: string }) => action)
  expect(actions.filter((action: string) => action.startsWith('source.'))).toEqual([
    'source.read',
    'source.approve',
    'source.create',
  ])
})

it('answers a failure outside of an execution as a failure', async () => {
  const { request } = await openSources()
  const body = { name: 'broken', command: process.execPath, args: ['/no/such/file.mjs'] }
  const { hash } = (await request('POST', '/sources', { body })).body.approval
  const approved = await request('POST', '/sources/broken/approve', { body: { hash } })
  expect(approved).toMatchObject({ status: 200, body: { state: 'failed' } })
  const refreshed = await request('POST', '/sources/broken/refresh')
  expect(refreshed).toMatchObject({ status: 424, body: { code: 'UPSTREAM_ERROR', status: 424 } })
  expect(refreshed.body.detail).toContain("Cannot find module '/no/such/file.mjs'")
})

it('117: lets no other key than one of an administrator register a server, or read its command', async () => {
  const { request, stores, context } = await openSources()
  const server = archive()
  const { secret: key } = (
    await request('POST', '/keys', { body: { name: 'writer', scopes: ['write', 'call', 'read'] } })
  ).body
  const body = { name: 'archive', ...server.definition }
  expect((await request('POST', '/sources', { body, key })).status).toBe(403)
  expect(await stores.sources.list(context.caller.workspace)).toEqual([])
  await request('POST', '/sources', { body })
  const read = await request('GET', '/sources/archive', { key })
  expect(read.body).toMatchObject({ name: 'archive', isApproved: false })
  expect(read.text).not.toContain(server.definition.args[1])
  expect((await request('POST', '/sources/archive/approve', { body: { hash: 'x' }, key })).status).toBe(403)
  expect(server.starts()).toEqual([])
})

it('needs the grants of the workspace to register and to start a server', async () => {
  const { request } = await openSources({ grants: ['default=mcp'] })
  const { definition } = archive()
  const refused = await request('POST', '/sources', { body: { name: 'archive', ...definition } })
  expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  expect(refused.body.hint).toContain('default=host')
  const url = { name: 'remote', url: 'http://127.0.0.1:1/mcp' }
  expect((await request('POST', '/sources', { body: { ...url, allowPrivate: true } })).status).toBe(403)
  const added = await request('POST', '/sources', { body: url })
  const { hash } = added.body.approval
  const approved = await request('POST', '/sources/remote/approve', { body: { hash } })
  expect(approved.body).toMatchObject({ isApproved: true, state: 'failed' })
  expect(approved.body.lastFailure.reason).toContain('not a public address')
})

const readOnly = { annotations: { readOnlyHint: true } }

it('starts a killed server again at the next call, and a stopped one at its first', async () => {
  const { run, context, mcp } = await openSources()
  const server = changingServer({ tools: [tool('read', readOnly), tool('write')] })
  const added = await run('add', 'archive', '--yes', '--', server.definition.command, ...server.definition.args)
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining('archive has 2 tools') })
  expect(added.err).toContain(server.definition.args[1])
  const ref = { workspace: 'default', name: 'archive' }
  // Whether the dying process received the request or not, a call without effects runs on a new start.
  expect(server.kill()).toBeGreaterThan(0)
  expect(await call(context, 'archive__read')).toBe('read ran')
  expect(mcp.upstreams.sources?.stateOf(ref)).toEqual({ isStarted: true })
  // Another request that reached the dying process may have been executed: it fails instead of having two effects.
  expect(server.kill()).toBeGreaterThan(0)
  expect(['write ran', 'UPSTREAM_ERROR']).toContain(await call(context, 'archive__write'))
  expect(server.calls().filter((name) => name === 'write').length).toBeLessThanOrEqual(1)
  expect(await call(context, 'archive__write')).toBe('write ran')
  mcp.upstreams.sources?.stop(ref)
  expect(await call(context, 'archive:read')).toBe('read ran')
})

it('repeats a call of an ended server only if its tool declares that this has no further effect', async () => {
  const { run, context } = await openSources()
  for (const [name, annotations, runs] of [
    ['plain', {}, 1],
    ['reading', { readOnlyHint: true }, 2],
    ['setting', { idempotentHint: true }, 2],
  ] as const) {
    const server = changingServer({ tools: [tool('write', { annotations })] })
    await run('add', name, '--yes', '--', server.definition.command, ...server.definition.args)
    const first = await call(context, `${name}__write`, { exitOnce: true })
    expect([name, first]).toEqual([name, runs === 1 ? 'UPSTREAM_ERROR' : 'write ran'])
    expect(server.calls()).toHaveLength(runs)
    expect(await call(context, `${name}__write`)).toBe('write ran')
    // One that ends at each call is not started forever.
    expect(await call(context, `${name}__write`, { exit: true })).toBe('UPSTREAM_ERROR')
    expect(server.calls()).toHaveLength(2 * runs + 1)
  }
})

it('gives a program only the declared variables, and moves their secrets to stored ones', async () => {
  const { request, context, stores } = await openSources()
  const server = archive()
  const body = { name: 'archive', ...server.definition, env: { ARCHIVE_TOKEN: 'tok-12345678', MODE: 'fast' } }
  const added = await request('POST', '/sources', { body })
  expect(added.body.server.env).toEqual({ ARCHIVE_TOKEN: 'secret:archive.ARCHIVE_TOKEN', MODE: 'fast' })
  const { hash } = added.body.approval
  await request('POST', '/sources/archive/approve', { body: { hash } })
  const names = String(await call(context, 'archive__read', { environment: true })).split(' ')
  expect(names).toEqual(expect.arrayContaining(['ARCHIVE_TOKEN', 'MODE', 'PATH']))
  expect(names).not.toContain('TOOLDEX_SECRET_KEY')
  expect(await call(context, 'archive__read', { variable: 'ARCHIVE_TOKEN' })).toBe(
    '[redacted secret:archive.ARCHIVE_TOKEN]',
  )
  expect(JSON.stringify(await stores.audit.list('default', { limit: 100 } as never))).not.toContain('tok-12345678')
  const again = await request('POST', '/sources', { body: { ...body, name: 'archive2' } })
  expect(again.status).toBe(201)
  await request('DELETE', '/sources/archive')
  const reused = await request('POST', '/sources', { body })
  expect(reused).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } })
  expect(reused.text).not.toContain('tok-12345678')
})

it('starts nothing after another command was set, and offers its tools only when that is approved', async () => {
  const { request, sync, context } = await openSources()
  const [server, other] = [archive(), archive()]
  const { hash } = (await request('POST', '/sources', { body: { name: 'archive', ...server.definition } })).body
    .approval
  await request('POST', '/sources/archive/approve', { body: { hash } })
  const changed = await request('PATCH', '/sources/archive', { body: { args: other.definition.args } })
  expect(changed.body).toMatchObject({ isApproved: false, state: 'configured' })
  await sync()
  expect((await context.catalog.open()).list()).toEqual([])
  await expect(invoke(callTool, { name: 'archive__read', arguments: {} }, context)).rejects.toMatchObject({
    code: 'TOOL_NOT_FOUND',
  })
  expect(other.starts()).toEqual([])
  const approved = await request('POST', '/sources/archive/approve', { body: { hash: changed.body.approval.hash } })
  expect(approved.body).toMatchObject({ state: 'started', tools: 2 })
  expect(other.starts()).toHaveLength(1)
})

it('102: no server takes the name or the namespace of a tool of another origin', async () => {
  const { request, context } = await openSources()
  const twins = changingServer({ tools: [tool('run_code'), tool('tooldex:run_code'), tool('read'), tool('read')] })
  for (const name of ['registry', 'tooldex', 'code'])
    expect((await request('POST', '/sources', { body: { name, ...twins.definition } })).status).toBe(409)
  for (const name of ['one', 'two']) {
    const { hash } = (await request('POST', '/sources', { body: { name, ...twins.definition } })).body.approval
    await request('POST', `/sources/${name}/approve`, { body: { hash } })
  }
  const names = (await context.catalog.open()).list().map(({ tool: { name } }) => name)
  expect(names.filter((name) => name.startsWith('one__'))).toHaveLength(3)
  expect(names.every((name) => /^(one|two)__/.test(name))).toBe(true)
})

it('98, 103: ends endless lists, and reports a server that never answers without delaying others', async () => {
  const { request } = await openSources()
  const dead = changingServer({ silent: 'initialize' })
  const endless = changingServer({ tools: [tool('read')], endless: 'same' })
  const add = async (name: string, definition: object) => {
    const { hash } = (await request('POST', '/sources', { body: { name, ...definition } })).body.approval
    return (await request('POST', `/sources/${name}/approve`, { body: { hash } })).body
  }
  const waiting = add('dead', { ...dead.definition, connectTimeoutMs: 300 })
  expect(await add('endless', endless.definition)).toMatchObject({ state: 'started', tools: 2 })
  expect(await waiting).toMatchObject({
    state: 'failed',
    lastFailure: { reason: expect.stringContaining('did not respond') },
  })
  const { items } = (await request('GET', '/sources')).body
  expect(items).toContainEqual(expect.objectContaining({ name: 'dead', state: 'failed', tools: 0 }))
})

/** A server at a URL that offers these definitions and nothing else. */
async function listServer(offered: Readonly<Record<string, object>>): Promise<string> {
  const about = { protocolVersion: '2025-11-25', serverInfo: { name: 'lists', version: '1' } }
  const results: Readonly<Record<string, object>> = {
    initialize: { ...about, capabilities: { tools: {}, prompts: {}, resources: {} } },
    ...offered,
  }
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray()
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
    if (id === undefined) return void response.writeHead(202).end()
    const result = results[method]
    const answer = result === undefined ? { error: { code: -32601, message: 'unknown method' } } : { result }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

it('102: no key without the scope admin takes a name, the namespace or an id of a tool of a source', async () => {
  const { request, context, sync } = await openSources()
  const key = (await request('POST', '/keys', { body: { name: 'writer', scopes: ['write', 'call'] } })).body.secret
  const register = (name: string, namespace: string, by?: string) => {
    const executorConfig = { method: 'GET', url: 'https://example.com/' }
    const about = {
      displayName: name,
      description: 'Another tool.',
      executorType: 'http',
      inputSchema: { type: 'object' },
    }
    return request('POST', '/tools', {
      body: { name, namespace, ...about, executorConfig },
      ...(by ? { key: by } : {}),
    })
  }
  const { hash } = (await request('POST', '/sources', { body: { name: 'archive', ...archive().definition } })).body
    .approval
  // Before the source of this name offers anything.
  expect((await register('read', 'archive', key)).status).toBe(201)
  await request('POST', '/sources/archive/approve', { body: { hash } })
  expect((await request('POST', '/tools/read/activate', { key })).status).toBe(200)
  await sync()
  for (const id of ['archive:read', 'archive:archive__read', 'archive__read'])
    expect(await call(context, id), id).toBe('read ran')
  for (const namespace of ['archive', 'ARCHIVE']) {
    const refused = await register('write', namespace, key)
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      `The namespace ${namespace} is that of a source; giving it to a registered tool needs the scope 'admin'.`,
    ])
  }
  expect((await register('archive__write', 'other', key)).body.detail).toContain('a tool of a source')
  const moved = await request('PATCH', '/tools/read', { key, body: { name: 'write' } })
  expect(moved.status).toBe(403)
  expect((await register('write', 'archive')).status).toBe(201)
  await request('POST', '/tools/write/activate')
  await sync()
  expect(await call(context, 'archive:write')).toBe('write ran')
})

it.each(['program', 'url'])('98: reads lists of hundreds of kilobytes whole, from a server with a %s', async (kind) => {
  const { request } = await openSources()
  const many = <Item>(make: (at: number) => Item) => Array.from({ length: 1500 }, (_, at) => make(at))
  const tools = many((at) => tool(`read_${at}`))
  const prompts = many((at) => ({ name: `prompt_${at}`, description: 'd'.repeat(100) }))
  const resources = many((at) => ({ uri: `file:///${at}`, name: `resource ${at}`, description: 'd'.repeat(100) }))
  const url = await listServer({
    'tools/list': { tools },
    'prompts/list': { prompts },
    'resources/list': { resources },
    'resources/templates/list': { resourceTemplates: [] },
  })
  const program = changingServer({ tools, prompts, resources }).definition
  const body = { name: 'large', ...(kind === 'url' ? { url, allowPrivate: true } : program) }
  const { hash } = (await request('POST', '/sources', { body })).body.approval
  const approved = await request('POST', '/sources/large/approve', { body: { hash } })
  expect(approved.body).toMatchObject({ state: 'started', tools: 1500, prompts: 1500, resources: 1500 })
  expect(approved.body.items.tools.at(-1)).toMatchObject({ name: 'read_1499', tool: 'large__read_1499' })
})

it('is named in no response to a caller whose policy hides the source, and shows only its tools where one tool is visible', async () => {
  const { request, sync } = await openSources()
  const prompts = [{ name: 'archive_prompt' }]
  const server = changingServer({ tools: [tool('read'), tool('write')], prompts, instructions: 'Of the archive.' })
  const added = await request('POST', '/sources', { body: { name: 'archive', ...server.definition } })
  await request('POST', '/sources/archive/approve', { body: { hash: added.body.approval.hash } })
  const keyOf = async (name: string, scopes: readonly string[]) =>
    (await request('POST', '/keys', { body: { name, scopes } })).body.secret as string
  const [shut, narrow] = [await keyOf('shut', ['call']), await keyOf('narrow', ['read'])]
  const policy = (name: string, tools: object) =>
    request('PUT', `/policies/${name}`, { body: { default: 'disabled', tools, callers: [name] } })
  await policy('shut', { other: {} })
  await policy('narrow', { archive__read: {} })
  await sync()
  const paths = [
    ...['/sources', '/sources?kind=mcp', '/stats', '/lint', '/metrics', '/tools', '/tags', '/bundle', '/llm/tools'],
    ...['/categories', '/executions', '/queue', '/toolsets', '/upstreams/prompts', '/upstreams/resources', '/limits'],
  ]
  for (const path of paths) {
    const { text } = await request('GET', path, { key: shut })
    expect(text, path).not.toContain('archive')
  }
  for (const query of ['archive', 'read of the archive', 'archive__read']) {
    const body = { query, facets: true, explain: true, limit: 100 }
    const { body: found } = await request('POST', '/search', { key: shut, body })
    expect(JSON.stringify({ ...found, query: '', readAs: '', explanation: '' })).not.toContain('archive__')
  }
  const [hidden, absent] = [
    await request('GET', '/sources/archive', { key: shut }),
    await request('GET', '/sources/no_such', { key: shut }),
  ]
  expect([hidden.status, hidden.body.detail]).toEqual([404, absent.body.detail.replace('no_such', 'archive')])
  const { body: shown } = await request('GET', '/sources/archive', { key: narrow })
  expect(shown).toMatchObject({ tools: 1, prompts: 0, instructions: null, items: { prompts: [] } })
  expect(shown.items.tools.map(({ name }: { name: string }) => name)).toEqual(['read'])
})

it('shows variables, folder and headers with the command to approve, and no name that could be that of two sources', async () => {
  const { request } = await openSources()
  const env = { NODE_OPTIONS: '--require /tmp/evil.js', API_TOKEN: 'a-literal-token-value' }
  const program = { name: 'tricky', command: 'node', args: ['server.js'], env, cwd: '/srv/it' }
  const { approval } = (await request('POST', '/sources', { body: program })).body
  expect(approval.command).toBe(
    "cd /srv/it && NODE_OPTIONS='--require /tmp/evil.js' API_TOKEN=secret:tricky.API_TOKEN node server.js",
  )
  const remote = { name: 'remote', url: 'https://mcp.example.test/', headers: { 'x-org': 'one' } }
  const { body } = await request('POST', '/sources', { body: remote })
  expect(body.approval.command).toBe("https://mcp.example.test/ -H 'x-org: one'")
  for (const name of ['a__b', 'a_', 'a_b_', '_a', 'a'.repeat(64)]) {
    const refused = await request('POST', '/sources', { body: { ...remote, name } })
    expect([refused.status, refused.body.errors[0].pointer], name).toEqual([422, '/name'])
  }
  expect((await request('POST', '/sources', { body: { ...remote, name: 'a_b-c_d' } })).status).toBe(201)
})

it('106: a tool whose schema refers elsewhere or never ends to match is refused alone, and nothing is fetched', async () => {
  const asked: string[] = []
  const canary = createServer((request, response) => {
    asked.push(String(request.url))
    response.end('{}')
  })
  await once(canary.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void canary.close())
  const elsewhere = { $ref: `http://127.0.0.1:${(canary.address() as AddressInfo).port}/schema.json` }
  const slow = { type: 'object', properties: { word: { type: 'string', pattern: '^(a+)+$' } } }
  const { run, context } = await openSources()
  const server = changingServer({
    tools: [
      ...[tool('read'), tool('elsewhere', { inputSchema: elsewhere }), tool('slow', { inputSchema: slow })],
      ...[{ name: 'none' }, { name: 'text', inputSchema: 'object' }, { description: 'nameless' }, 'no tool'],
    ],
  })
  const { command, args } = server.definition
  expect(await run('add', 'archive', '--yes', '--', command, ...args)).toMatchObject({ code: 0 })
  expect(await call(context, 'archive__read')).toBe('read ran')
  await expect(call(context, 'archive__elsewhere')).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  const word = `${'a'.repeat(40)}!`
  await expect(call(context, 'archive__slow', { word })).rejects.toMatchObject({ code: expect.any(String) })
  expect(server.calls()).toEqual(['read'])
  expect(asked).toEqual([])
})
