import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStores } from '../../src/storage/index.ts'
import { openMigrated } from '../support/migrated-database.ts'
import { startServer, type TestServer, testKey } from '../support/start-server.ts'
import { ownTools, toolNames } from './tools.ts'
import { type LongTurn, watchTurns } from './watch-turns.ts'

const scopes = ['read', 'call', 'write', 'admin'] as const

/** A workspace with a key of each scope; everything in it bears its mark, and no request of others does. */
export interface Workspace {
  readonly name: string
  readonly mark: string
  readonly keys: readonly string[]
  readonly admin: string
}

/** A server under watch, with two workspaces. */
export interface Site {
  readonly server: TestServer
  readonly workspaces: readonly Workspace[]
  /** Puts back what the requests changed. */
  refill(): Promise<void>
  /** Ids and names of both workspaces, by the resource they are of. */
  collect(): Promise<Readonly<Record<string, readonly string[]>>>
  /** The headers of a page that signed in with a key; none for no key. */
  sessionOf(key: string | undefined): Readonly<Record<string, string>>
  longTurns(): readonly LongTurn[]
  close(): Promise<void>
}

/** Starts a server whose event loop is watched, on PostgreSQL where a database is given. */
export async function openSite(database?: string): Promise<Site> {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-fuzz-'))
  const workspaces = [workspaceOf('default', testKey), workspaceOf('second', 'key-of-the-second-workspace-0123456789')]
  await addKeys({ url: database, home }, workspaces)
  const service = await startService()
  const watch = watchTurns()
  const server = await startServer({
    limitedBecause: 'load is the subject: 20,000 requests',
    database,
    home,
    env: { ...watch.env, TOOLDEX_GRANTS: 'second=mcp,private' },
  })
  const refill = async () => {
    for (const workspace of workspaces) await fill(server, workspace, service.url)
  }
  await refill()
  const sessions = await startSessions(server, workspaces)
  return {
    server,
    workspaces,
    refill,
    collect: () => collect(server, workspaces),
    sessionOf: (key) => sessions.get(key ?? '') ?? {},
    longTurns: watch.turns,
    async close() {
      await server.stop()
      await service.close()
      watch.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const workspaceOf = (name: string, admin: string): Workspace => ({
  name,
  admin,
  mark: `zq${createHash('sha256').update(name).digest('hex').slice(0, 12)}`,
  keys: scopes.map((scope) => (scope === 'admin' ? admin : `key-${name}-${scope}-0123456789abcdef`)),
})

async function addKeys(where: { url?: string | undefined; home: string }, workspaces: readonly Workspace[]) {
  const database = await openMigrated(where)
  const { keys } = createStores(database)
  for (const { name: workspace, keys: secrets, mark } of workspaces)
    for (const [index, scope] of scopes.entries()) {
      const hash = createHash('sha256')
        .update(secrets[index] as string)
        .digest('hex')
      const name = scope === 'admin' ? 'admin' : `${scope}-${mark}`
      const codeMode = scope === 'call' || scope === 'admin'
      await keys.create({ workspace, actor: 'test' }, { name, prefix: 'key', hash, codeMode, scopes: [scope] })
    }
  await database.close()
}

/** Signs in with every key, as a page of the server does. */
async function startSessions({ url }: TestServer, workspaces: readonly Workspace[]) {
  const page = { 'x-tooldex-session': '1', 'sec-fetch-site': 'same-origin' }
  const sessions = new Map<string, Readonly<Record<string, string>>>()
  for (const key of workspaces.flatMap(({ keys }) => keys)) {
    const headers = { ...page, 'content-type': 'application/json' }
    const { headers: answered } = await fetch(`${url}/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ key }),
    })
    sessions.set(key, { ...page, cookie: String(answered.getSetCookie()[0]?.split(';')[0]) })
  }
  return sessions
}

/** An MCP server whose definitions and results bear the mark in its path. */
function answerMcp(mark: string, { id, method, params }: { id?: number; method: string; params?: { name?: string } }) {
  const text = `Of ${mark}: ${'word '.repeat(20)}`
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: 'lists', version: '1' },
      instructions: text,
    },
    'tools/list': {
      tools: Array.from({ length: 300 }, (_, at) => ({
        name: at === 0 ? 'echo' : `listed_${at}`,
        description: text,
        inputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(?:a|aa|aaa){1,500}$' } } },
      })),
    },
    'prompts/list': { prompts: Array.from({ length: 100 }, (_, at) => ({ name: `prompt_${at}`, description: text })) },
    'resources/list': { resources: Array.from({ length: 100 }, (_, at) => ({ uri: `file:///${at}`, name: text })) },
    'resources/templates/list': { resourceTemplates: [] },
    'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text } }] },
    'resources/read': { contents: [{ uri: 'file:///1', text }] },
    'completion/complete': { completion: { values: [text] } },
    'tools/call': { content: [{ type: 'text', text: `${params?.name} ${text}` }] },
  }
  const result = results[method]
  return {
    jsonrpc: '2.0',
    id,
    ...(result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }),
  }
}

/** A service whose answer is large and nested, and an MCP server for posted messages. */
async function startService() {
  const items = Array.from({ length: 3000 }, (_, index) => ({
    name: `item ${index}`,
    parts: [{ c: index }, { d: [index] }],
  }))
  const body = JSON.stringify({ items })
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.method !== 'POST') return void response.end(body)
    const message = JSON.parse(Buffer.concat(await request.toArray()).toString())
    if (message.id === undefined) return void response.writeHead(202).end()
    response.end(JSON.stringify(answerMcp(String(request.url).slice(1), message)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

async function fill(server: TestServer, { admin: key, mark }: Workspace, service: string): Promise<void> {
  const ask = (method: string, path: string, body?: unknown) => server.request(method, path, { key, body })
  for (const tool of ownTools(mark, service)) {
    const { name, ...change } = tool
    if ((await ask('POST', '/tools', tool)).status === 409) await ask('PATCH', `/tools/${String(name)}`, change)
    await ask('POST', `/tools/${String(name)}/activate`)
  }
  await ask('DELETE', '/policies/default')
  for (const { name } of (await ask('GET', '/limits')).body.items)
    await ask('DELETE', `/limits/${encodeURIComponent(name)}`)
  await ask('PUT', '/toolsets/echoes', { filter: { names: ['echo_text'] }, mode: 'classic', codeMode: true })
  await ask('POST', '/sources', { name: 'lists', url: `${service}${mark}`, allowPrivate: true })
  const { body: source } = await ask('GET', '/sources/lists')
  await ask('PATCH', '/sources/lists', { url: `${service}${mark}`, approve: source.approval.hash })
  await ask('POST', '/categories', { name: `c-${mark}` })
  await ask('PUT', '/secrets/token', { value: `secret-${mark}` })
  await ask('POST', '/tools/echo_text/proposals', { change: { notes: `${mark} proposed` } })
  await ask('POST', '/tools/echo_text/execute', { input: { text: mark }, wait: true, callerId: mark })
  await ask('POST', '/tools/print_much/execute', { input: {}, wait: true })
  await ask('POST', '/search', { query: mark })
}

async function collect(server: TestServer, workspaces: readonly Workspace[]) {
  const known: Record<string, string[]> = {
    tools: [...toolNames],
    llm: [...toolNames],
    secrets: ['token'],
    policies: ['default'],
  }
  for (const { admin: key } of workspaces)
    for (const resource of ['tools', 'categories', 'executions', 'policies', 'keys', 'sources', 'toolsets', 'limits']) {
      const { body } = await server.request('GET', `/${resource}`, { key })
      for (const item of (body?.items ?? []) as readonly Record<string, unknown>[]) {
        // The keys of the run itself are not to be revoked.
        if (resource === 'keys' && !String(item.name).startsWith('spare_')) continue
        add(known, resource, item.id ?? item.name)
        add(known, 'results', item.resultHandle ?? (item.outputData as { handle?: unknown } | null)?.handle)
        if (resource === 'tools' && item.name === 'echo_text')
          for (const proposal of (await server.request('GET', `/tools/${String(item.id)}/proposals`, { key })).body
            ?.items ?? [])
            add(known, 'proposals', proposal.id)
      }
    }
  return known
}

function add(known: Record<string, string[]>, resource: string, value: unknown): void {
  if (typeof value === 'string') known[resource] = [...(known[resource] ?? []), value]
}
