// The floor: the smallest server that this SDK allows, with one tool that starts the same program.
import { execFile } from 'node:child_process'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

serveStdio(() => {
  const server = new McpServer({ name: 'floor', version: '1.0.0' })
  server.registerTool('echo', { inputSchema: z.object({ message: z.string() }) }, ({ message }) => {
    return new Promise((resolve) => {
      execFile('echo', [message], (_, stdout) => resolve({ content: [{ type: 'text', text: stdout }] }))
    })
  })
  return server
})
