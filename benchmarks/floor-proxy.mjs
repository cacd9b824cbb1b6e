// A bare MCP proxy over HTTP on the official packages: it forwards every call to one upstream, a URL or a program with arguments, and
// checks and records nothing. It ends with its standard input if the environment has PROXY_ENDS.
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

const client = new Client({ name: 'proxy', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
const [, , first, ...args] = process.argv
const transport = first.startsWith('http:')
  ? new StreamableHTTPClientTransport(new URL(first))
  : new StdioClientTransport({ command: first, args, env: process.env })
await client.connect(transport)
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'proxy', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => client.listTools())
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args } }) =>
    client.callTool({ name, arguments: args }),
  )
  return server
})
const server = createServer(getRequestListener(handler.fetch))
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
if (process.env.PROXY_ENDS) process.stdin.on('end', () => client.close().finally(() => process.exit())).resume()
