import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Revision, revisions } from './support/connect.ts'
import { makeKey } from './support/keys.ts'
import { registerScript } from './support/registered-tools.ts'
import { ask, startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
let caller: string
beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
  await registerScript(server, 'pay_bill', { script: 'echo "paid $1"', annotations: { requiresApproval: true } })
  await registerScript(server, 'slow_word', { script: 'sleep 3; echo "$1"' })
  caller = await makeKey(server, 'agent', ['call'])
})
afterAll(() => server?.stop())

type Answer = (params: Record<string, unknown>) => { action: string; content?: Record<string, unknown> }

interface ClientOptions {
  readonly revision: Revision
  readonly key?: string
  readonly elicitation?: Record<string, Record<string, never>>
  readonly answer?: Answer
}

/** The official client, which answers elicitations as a user would. */
async function connect({ revision, key = server.key, elicitation, answer }: ClientOptions): Promise<Client> {
  const negotiation = revision === '2026-07-28' ? { versionNegotiation: { mode: 'auto' as const } } : {}
  const capabilities = elicitation === undefined ? {} : { elicitation }
  const client = new Client({ name: 'test', version: '1.0.0' }, { ...negotiation, capabilities })
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => answer({ ...params }) as never)
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }))
  onTestFinished(() => client.close())
  return client
}

const pay = (client: Client, word: string) =>
  client.callTool({ name: 'call_tool', arguments: { name: 'pay_bill', arguments: { word } } })

describe.each(revisions)('approval at revision %s', (revision) => {
  it('is requested from the user of a client whose key may approve, and the call then runs', async () => {
    const asked: unknown[] = []
    const answer: Answer = (params) => {
      asked.push(params)
      return { action: 'accept', content: { decision: 'approve', note: 'seen' } }
    }
    const client = await connect({ revision, elicitation: { form: {} }, answer })
    const result = await pay(client, 'twelve')
    expect(result.structuredContent, JSON.stringify(result)).toMatchObject({ stdout: 'paid twelve\n' })
    expect(asked).toMatchObject([{ message: expect.stringContaining('pay_bill with {"word":"twelve"') }])
    const { executionId } = result.structuredContent as { executionId: string }
    const { body } = await server.request('GET', `/audit?subject=execution:${executionId}`)
    expect(body.items[0]).toMatchObject({ action: 'execution.approve', actor: 'key:admin' })
  })

  it('that the user refuses ends the call', async () => {
    for (const answer of [
      () => ({ action: 'decline' }),
      () => ({ action: 'accept', content: { decision: 'refuse', note: 'too much' } }),
    ]) {
      const client = await connect({ revision, elicitation: { form: {} }, answer })
      expect(await pay(client, 'refused')).toMatchObject({
        isError: true,
        structuredContent: { status: 'CANCELLED', errorCode: 'APPROVAL_REFUSED' },
        content: [{ text: expect.stringMatching(/^The call was refused.*\nThe tool was not started\.$/) }],
      })
    }
  })

  it('is not requested by a form from a key that may not approve its own call; the call waits for somebody else', async () => {
    const answer: Answer = () => ({ action: 'accept', content: { decision: 'approve' } })
    const client = await connect({ revision, key: caller, elicitation: { form: {} }, answer })
    const { structuredContent } = await pay(client, 'own')
    expect(structuredContent).toMatchObject({
      waitsFor: 'approval',
      approvalUrl: expect.stringContaining('/executions/'),
    })
    const { executionId } = structuredContent as { executionId: string }
    const { body } = await server.request('GET', `/executions/${executionId}`)
    expect(body).toMatchObject({ status: 'PENDING', reason: 'approval', callerId: 'key:agent' })
  })

  it('of such a key is requested by the URL where somebody else decides', async () => {
    const urls: string[] = []
    const answer: Answer = ({ url }) => {
      urls.push(String(url))
      return { action: 'accept' }
    }
    const client = await connect({ revision, key: caller, elicitation: { url: {} }, answer })
    const { structuredContent } = await pay(client, 'elsewhere')
    const { executionId } = structuredContent as { executionId: string }
    expect(urls).toEqual([`${server.url}/executions/${executionId}`])
    expect(structuredContent).toMatchObject({ waitsFor: 'approval' })
    await server.request('POST', `/executions/${executionId}/approve`, { body: {} })
    await expect
      .poll(async () => (await server.request('GET', `/executions/${executionId}`)).body.status)
      .toBe('SUCCESS')
  })
})

/** A request of revision 2026-07-28 without the official client. */
async function rpc(method: string, params: Record<string, unknown>, { key = server.key, capabilities = {} } = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const name = params.name ?? params.uri ?? params.taskId
  return ask(`${server.url}/mcp`, 'POST', {
    key,
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': String(name) }),
    },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  })
}

const withForm = { elicitation: { form: {} } }
const payment = (word: string) => ({ name: 'call_tool', arguments: { name: 'pay_bill', arguments: { word } } })
const inputResponses = { approval: { action: 'accept', content: { decision: 'approve' } } }

it('52: a requestState that is changed, used again, of another caller or of another call is rejected, and nothing runs', async () => {
  const other = await makeKey(server, 'other admin', ['read', 'call', 'write', 'admin'])
  const begin = async (word: string) => {
    const { body } = await rpc('tools/call', payment(word), { capabilities: withForm })
    expect(body.result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    return body.result.requestState as string
  }
  const send = (word: string, requestState: string, key = server.key) =>
    rpc('tools/call', { ...payment(word), inputResponses, requestState }, { key, capabilities: withForm })
  const refused = { body: { error: { code: -32602 } } }
  const state = await begin('first')
  expect(await send('first', `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`)).toMatchObject(refused)
  expect(await send('first', state, other)).toMatchObject(refused)
  expect(await send('first', '../etc')).toMatchObject(refused)
  expect(await send('second', state)).toMatchObject(refused)
  const again = await begin('third')
  expect((await send('third', again)).body.result).toMatchObject({ structuredContent: { stdout: 'paid third\n' } })
  expect(await send('third', again)).toMatchObject(refused)
  const { body } = await server.request('GET', '/executions?tool=pay_bill&status=SUCCESS&limit=100')
  const paid = await Promise.all(body.items.map(({ id }: { id: string }) => server.request('GET', `/executions/${id}`)))
  expect(paid.filter((run) => run.body.inputData.word === 'third')).toHaveLength(1)
  expect(paid.filter((run) => ['first', 'second'].includes(run.body.inputData.word))).toEqual([])
})

describe('tasks', () => {
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const slow = { name: 'call_tool', arguments: { name: 'slow_word', arguments: { word: 'late' } } }
  const begin = async () => (await rpc('tools/call', slow, { capabilities })).body.result

  it('are executions: a long call is answered with one, which is polled until it has its result', async () => {
    const task = await begin()
    expect(task).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null })
    expect((await server.request('GET', `/executions/${task.taskId}`)).body.toolName).toBe('slow_word')
    const get = async () => (await rpc('tasks/get', { taskId: task.taskId }, { capabilities })).body.result
    await expect.poll(async () => (await get()).status).toBe('completed')
    expect((await get()).result).toMatchObject({ structuredContent: { stdout: 'late\n' } })
  })

  it('are cancelled by their caller', async () => {
    const { taskId } = await begin()
    expect((await rpc('tasks/cancel', { taskId }, { capabilities })).body.result).toMatchObject({
      resultType: 'complete',
    })
    const get = async () => (await rpc('tasks/get', { taskId }, { capabilities })).body.result.status
    await expect.poll(get).toBe('cancelled')
  })

  it('are unknown to other callers, and to clients without the extension', async () => {
    const { taskId } = await begin()
    for (const [method, id] of [
      ['tasks/get', taskId],
      ['tasks/cancel', taskId],
      ['tasks/get', 'unknown'],
    ]) {
      const key = id === taskId ? caller : server.key
      expect(await rpc(method, { taskId: id }, { key, capabilities })).toMatchObject({
        body: { error: { code: -32602 } },
      })
    }
    expect(await rpc('tasks/get', { taskId })).toMatchObject({ body: { error: { code: -32021 } } })
    await rpc('tasks/cancel', { taskId }, { capabilities })
  })
})

describe('sessions of revision 2025-11-25', () => {
  const headers = { accept: 'application/json, text/event-stream' }
  const begin = async (key = server.key) => {
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    const response = await ask(`${server.url}/mcp`, 'POST', { key, headers, body })
    return String(response.headers.get('mcp-session-id'))
  }
  const list = (session: string, key = server.key) =>
    ask(`${server.url}/mcp`, 'POST', {
      key,
      headers: { ...headers, 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session },
      body: { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} },
    })

  it("54: that are forged, guessed, another caller's or ended are unknown, and begin anew", async () => {
    const session = await begin()
    expect(session).toMatch(/^[\x21-\x7e]+$/)
    expect((await list(session)).status).toBe(200)
    for (const unknown of [
      'x',
      `${session}x`,
      session.replace(/.$/, session.endsWith('0') ? '1' : '0'),
      '../../etc/passwd',
    ])
      expect((await list(unknown)).status, unknown).toBe(404)
    expect((await list(session, caller)).status).toBe(404)
    const end = (key: string) => ask(`${server.url}/mcp`, 'DELETE', { key, headers: { 'mcp-session-id': session } })
    expect((await end(caller)).status).toBe(404)
    expect((await list(session)).status).toBe(200)
    expect((await end(server.key)).status).toBe(204)
    expect((await list(session)).status).toBe(404)
    expect((await list(await begin())).status).toBe(200)
  })

  it('have a stream of changes', async () => {
    const session = await begin()
    const stop = new AbortController()
    const response = await fetch(`${server.url}/mcp`, {
      headers: { authorization: `Bearer ${server.key}`, accept: 'text/event-stream', 'mcp-session-id': session },
      signal: stop.signal,
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    let received = ''
    const reading = (async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        received += Buffer.from(chunk).toString()
    })().catch(() => {})
    await registerScript(server, 'announced_word', { script: 'echo x' })
    await expect.poll(() => received).toContain('notifications/tools/list_changed')
    stop.abort()
    await reading
  })
})

describe.each(revisions)('resources at revision %s', (revision) => {
  it('include the documents of tools, with completion of their ids', async () => {
    const client = await connect({ revision })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('tooldex://tools/{id}')
    const { contents } = await client.readResource({ uri: 'tooldex://tools/coreutils_echo' })
    expect(contents).toMatchObject([{ mimeType: 'text/markdown', text: expect.stringContaining('"message"') }])
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'tooldex://tools/{id}' },
      argument: { name: 'id', value: 'coreutils_ec' },
    })
    expect(completion.values).toEqual(['coreutils:coreutils_echo'])
    for (const uri of [
      'tooldex://tools/no_such_tool',
      'tooldex://tools/%E0%A4%A',
      'tooldex://results/x',
      'file:///etc/passwd',
    ])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: expect.any(Number) })
  })
})
