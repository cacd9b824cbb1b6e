// An MCP server for benchmarks with one tool that answers at once, and one that works for 50 ms: over stdio, or over HTTP with `http`.
import { createServer } from 'node:http'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const makeServer = () => {
  const server = new McpServer({ name: 'floor', version: '1.0.0' })
  const schema = {
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  }
  const add = ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } })
  server.registerTool('add', schema, add)
  server.registerTool('add_slowly', schema, async (input) => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return add(input)
  })
  return server
}

if (process.argv[2] === 'http') {
  const handler = createMcpHandler(makeServer)
  const server = createServer(async (incoming, outgoing) => {
    const chunks = []
    for await (const chunk of incoming) chunks.push(chunk)
    const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
    const body = incoming.method === 'POST' ? Buffer.concat(chunks) : null
    const response = await handler.fetch(
      new Request('http://127.0.0.1/mcp', { method: incoming.method, headers, body }),
    )
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body !== null) for await (const chunk of response.body) outgoing.write(chunk)
    outgoing.end()
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
  process.stdin.on('end', () => process.exit()).resume()
} else serveStdio(makeServer)
