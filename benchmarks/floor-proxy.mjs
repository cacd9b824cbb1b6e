// A bare MCP proxy over HTTP on the official packages: it forwards every call to one upstream, and checks and records nothing.
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

const client = new Client({ name: 'proxy', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])))
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
