import { Writable } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio as serve } from '@modelcontextprotocol/server/stdio'
import { createMcpServer, type McpServerOptions } from './create-server.ts'

/** Serves MCP on standard input and output until the client goes away or the signal is aborted. */
export function serveStdio(options: McpServerOptions, signal: AbortSignal): Promise<void> {
  const { logger, catalogue } = options.context
  const servers = new Set<Server>()
  return new Promise((resolve) => {
    const transport = new StdioServerTransport(process.stdin, claimStdout())
    const factory = (): Server => {
      const server = createMcpServer(options)
      servers.add(server)
      server.onclose = () => servers.delete(server)
      return server
    }
    const handle = serve(factory, { transport, onerror: (error) => logger.warn(`protocol: ${error.message}`) })
    catalogue.onChange(() => {
      for (const server of servers) server.sendToolListChanged().catch(() => {})
    })
    // It closes itself when a line is longer than it may be; nobody reads our input after that.
    const { onclose } = transport
    transport.onclose = () => {
      onclose?.()
      resolve()
    }
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    signal.addEventListener('abort', () => void handle.close().catch(() => {}), { once: true })
  })
}

/** Takes stdout for the protocol: whatever else in this process writes to it goes to stderr instead. */
function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write
  // A client that is gone cannot be told so; the end of its input ends us.
  process.stdout.on('error', () => {})
  return new Writable({ write: (chunk: Buffer, _, done) => void write(chunk, () => done()) })
}
