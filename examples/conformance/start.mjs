// Starts a server with the fixture server behind it, and registers its tools.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tools } from './fixtures.mjs'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/** The suite expects names without a namespace. */
const servers = {
  mcpServers: {
    fixtures: {
      command: process.execPath,
      args: [at('fixture-server.mjs')],
      namespace: '',
      clientRequests: ['elicitation', 'sampling', 'roots'],
    },
  },
}

/** Starts the server and returns its URL, its key, and a function that stops it. */
export async function startFixtures() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-conformance-'))
  const key = 'a-key-for-the-fixtures-only'
  writeFileSync(join(home, 'servers.json'), JSON.stringify(servers))
  const { DATABASE_URL: _database, TOOLDEX_URL: _server, ...outer } = process.env
  const server = spawn(process.execPath, [at('../../dist/app/main.js'), 'serve', '--port', '0'], {
    env: { ...outer, TOOLDEX_HOME: home, TOOLDEX_API_KEY: key },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stop = async () => {
    server.kill('SIGTERM')
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    rmSync(home, { recursive: true, force: true })
  }
  try {
    const url = await urlOf(server)
    for (const tool of tools) await register(url, key, tool)
    return { url, key, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function urlOf(server) {
  return new Promise((resolve, reject) => {
    let log = ''
    server.stderr.setEncoding('utf8').on('data', (text) => {
      log += text
      const [, url] = /serves .* at (http:\S+)/.exec(log) ?? []
      if (url !== undefined) resolve(url)
    })
    server.once('exit', () => reject(new Error(`the server ended: ${log}`)))
  })
}

async function register(url, key, { name, description, inputSchema }) {
  const executorConfig = { server: 'fixtures', tool: name }
  const tool = { name, displayName: name, description, inputSchema, executorType: 'mcp', executorConfig }
  for (const [path, body] of [
    ['', tool],
    [`/${name}/activate`, undefined],
  ]) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1/tools${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`)
  }
}
