// A small MCP server made with the official package: `stdio` or `http`, in `both` revisions or only the `older` one.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createMcpHandler,
  inputRequired,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const [, , way = 'stdio', revisions = 'both'] = process.argv

const requestedSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

const makeServer = () => {
  const server = new McpServer({ name: 'official', version: '1.0.0' }, { capabilities: { logging: {} } })
  const add = { description: 'Add two numbers', inputSchema: z.object({ a: z.number(), b: z.number() }) }
  server.registerTool('add', { ...add, outputSchema: z.object({ sum: z.number() }) }, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
    structuredContent: { sum: a + b },
  }))
  const text = z.object({ text: z.string().default('') })
  server.registerTool('say', { description: 'Say a text', inputSchema: text }, async ({ text: said }) => ({
    content: [{ type: 'text', text: said }],
  }))
  server.registerTool('environment', { description: 'Say the environment', inputSchema: z.object({}) }, async () => ({
    content: [{ type: 'text', text: JSON.stringify(process.env) }],
  }))
  server.registerTool('read', { description: 'Read a file', inputSchema: text }, async ({ text: path }) => ({
    content: [{ type: 'text', text: await readFile(path, 'utf8').catch(({ code }) => code) }],
  }))
  const many = z.object({ count: z.number(), asText: z.boolean().default(false) })
  server.registerTool('many', { description: 'Return many items', inputSchema: many }, async ({ count, asText }) => {
    const structure = { items: Array.from({ length: count }, (_, id) => ({ id, text: 'é' })) }
    return asText
      ? { content: [{ type: 'text', text: JSON.stringify(structure) }] }
      : { content: [], structuredContent: structure }
  })
  server.registerTool('fail', { description: 'Fail', inputSchema: text }, async ({ text: said }) => ({
    content: [{ type: 'text', text: `cannot ${said}` }],
    isError: true,
  }))
  server.registerTool('picture', { description: 'Give a picture', inputSchema: z.object({}) }, async () => ({
    content: [
      { type: 'text', text: 'here' },
      { type: 'image', mimeType: 'image/png', data: Buffer.from('pixels').toString('base64') },
    ],
  }))
  server.registerTool('break', { description: 'Break', inputSchema: z.object({}) }, async () => {
    throw new Error('it went wrong')
  })
  server.registerTool('wait', { description: 'Wait a minute', inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {}
    const params = { progressToken, progress: 0, message: 'started' }
    await mcpReq.notify({ method: 'notifications/progress', params })
    await sleep(60_000, undefined, { signal: mcpReq.signal }).catch(() => {})
    return { content: [] }
  })
  const steps = z.object({ steps: z.number(), everyMs: z.number() })
  server.registerTool('count', { description: 'Count slowly', inputSchema: steps }, async (input, context) => {
    const { progressToken } = context.mcpReq._meta ?? {}
    for (let step = 1; step <= input.steps && !context.mcpReq.signal.aborted; step++) {
      await sleep(input.everyMs)
      if (progressToken === undefined) continue
      const params = { progressToken, progress: step, total: input.steps, message: `step ${step}` }
      await context.mcpReq.notify({ method: 'notifications/progress', params })
    }
    process.stderr.write(context.mcpReq.signal.aborted ? 'count was cancelled\n' : 'count has ended\n')
    return { content: [{ type: 'text', text: 'counted' }] }
  })
  const logged = z.object({
    lines: z.array(z.string()).default([]),
    hold: z.number().default(0),
    times: z.number().default(1),
  })
  server.registerTool('log', { description: 'Write a log', inputSchema: logged }, async (input, { mcpReq }) => {
    for (let time = 0; time < input.times; time++)
      for (const line of input.lines) await mcpReq.log(line.split(' ')[0], { line, token: process.env.CRM_TOKEN }, 'db')
    await sleep(input.hold)
    return { content: [{ type: 'text', text: 'logged' }] }
  })
  // As servers of the older revisions do it: a message that names no request.
  server.registerTool('shout', { description: 'Write a log', inputSchema: logged }, async (input) => {
    for (const line of input.lines) await server.server.sendLoggingMessage({ level: 'warning', data: line })
    await sleep(input.hold)
    return { content: [{ type: 'text', text: 'shouted' }] }
  })
  const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Which city?', requestedSchema } }
  const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }
  server.registerTool(
    'ask',
    { description: 'Ask the client', inputSchema: text },
    async ({ text: kind }, { mcpReq }) => {
      const { city, model } = mcpReq.inputResponses ?? {}
      if (city === undefined && model === undefined)
        return inputRequired({ inputRequests: kind === 'sampling' ? { model: sampling } : { city: question } })
      return { content: [{ type: 'text', text: `answered ${JSON.stringify(city ?? model)}` }] }
    },
  )
  return server
}

/** Keeps a session for each client, as servers of the older revision do. */
function olderHandler() {
  const sessions = new Map()
  return async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known !== undefined) return known.handleRequest(request)
    if (request.headers.has('mcp-session-id')) return new Response('no such session', { status: 404 })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => sessions.set(id, transport),
    })
    await makeServer().connect(transport)
    return transport.handleRequest(request)
  }
}

async function listen() {
  const both = createMcpHandler(makeServer)
  let handle = revisions === 'older' ? olderHandler() : (request) => both.fetch(request)
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.url === '/forget') {
      handle = olderHandler()
      return outgoing.end()
    }
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    process.stderr.write(`${JSON.stringify({ asked: incoming.method, headers: incoming.headers })}\n`)
    const chunks = []
    for await (const chunk of incoming) chunks.push(chunk)
    const leaving = new AbortController()
    outgoing.on('close', () => leaving.abort())
    const body = incoming.method === 'POST' ? Buffer.concat(chunks) : null
    const { signal } = leaving
    const request = new Request(`http://${incoming.headers.host}/mcp`, {
      method: incoming.method,
      headers,
      body,
      signal,
    })
    const response = await handle(request)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.flushHeaders()
    try {
      if (response.body !== null) for await (const chunk of response.body) outgoing.write(chunk)
    } catch {
      // The client has left.
    }
    outgoing.end()
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
}

if (way === 'http') await listen()
else if (revisions === 'older') await makeServer().connect(new StdioServerTransport())
else serveStdio(makeServer)
