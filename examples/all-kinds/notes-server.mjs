// A small MCP server of one's own: it keeps notes in memory.
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const notes = []

serveStdio(() => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const add = { description: 'Keep a note', inputSchema: z.object({ text: z.string() }) }
  server.registerTool('add_note', add, ({ text }) => {
    notes.push(text)
    const structuredContent = { kept: notes.length, last: text }
    return { content: [{ type: 'text', text: `kept ${notes.length}` }], structuredContent }
  })
  return server
})
