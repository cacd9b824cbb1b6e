// One call of a tool of another MCP server: the official client by itself, the mcp executor, and the runner of every call.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createMcpExecutor, loadServers } from '../dist/executors/index.js'
import { inTable, measureInTurn, runnerOf, startPeer, toolOf } from './executors.mjs'

const rounds = 2000
const input = { a: 2, b: 3 }
const script = fileURLToPath(new URL('floor-mcp.mjs', import.meta.url))
const expect = (found) => {
  if (found?.sum !== 5) throw new Error(`answered ${JSON.stringify(found)}`)
}

async function connect(transport) {
  const client = new Client({ name: 'benchmark', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  return client
}

function openExecutor(definition) {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-bench-'))
  const path = join(folder, 'servers.json')
  writeFileSync(path, JSON.stringify({ mcpServers: { floor: definition } }))
  const servers = loadServers({ path, required: true }, process.env)
  rmSync(folder, { recursive: true })
  const secrets = { resolve: async (name) => name, redact: (text) => text }
  return createMcpExecutor({ servers, env: process.env, secrets })
}

async function measure(transport, definition) {
  const client = await connect(transport)
  const executor = openExecutor(definition)
  const runner = runnerOf(executor)
  const tool = toolOf('mcp', { server: 'floor', tool: 'add' })
  const rows = await measureInTurn(
    {
      'the official client': async () =>
        expect((await client.callTool({ name: 'add', arguments: input })).structuredContent),
      'the mcp executor': async () => expect((await executor.prepare({ tool, input, timeoutMs: 5000 }).run({})).output),
      'the runner of every call': async () => expect((await runner.run(tool, input)).output),
    },
    { rounds },
  )
  await client.close()
  await runner.close(5000)
  return inTable(rows)
}

export async function run() {
  const stdio = { command: process.execPath, args: [script] }
  const overStdio = await measure(new StdioClientTransport({ ...stdio, stderr: 'ignore' }), stdio)
  const peer = await startPeer('floor-mcp.mjs', 'http')
  const url = `http://127.0.0.1:${peer.port}/mcp`
  const overHttp = await measure(new StreamableHTTPClientTransport(new URL(url)), { url, allowPrivate: true })
  peer.stop()
  return `Goal: at most 1.3 times the official client, median. ${rounds} calls each, one after another, in turn.\n\nOver stdio:\n\n${overStdio}\n\nOver HTTP:\n\n${overHttp}`
}
