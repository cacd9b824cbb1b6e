import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { Shield } from '../../src/executors/index.ts'
import { needs } from '../support/needs.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { startWorker } from '../support/start-worker.ts'
import { tempHome } from '../support/temp-folder.ts'
import { attackedSecrets, attackingServer, foundBy, hiddenFile } from './server-attack.ts'

const [programs, home] = [tempHome(), tempHome()]
const hasShield = 'made' in (await new Shield({ env: process.env, hidden: home.path }).selfTest.run())
const it = needs(hasShield, 'needs Landlock of Linux 5.19 and Python')
const itAsRoot = needs(hasShield && process.geteuid?.() === 0, 'needs root, to read the memory of another process')

let postgres: SharedPostgres
let database: string
let server: TestServer

beforeAll(async () => {
  writeFileSync(join(home.path, 'private.txt'), hiddenFile)
  writeFileSync(join(programs.path, 'attacker.py'), attackingServer)
  const definition = { command: '/usr/bin/python3', args: ['-I', join(programs.path, 'attacker.py')] }
  writeFileSync(join(programs.path, 'servers.json'), JSON.stringify({ mcpServers: { attacker: definition } }))
  postgres = await sharedPostgres()
  database = await postgres.createDatabase()
  const words = ['--no-worker', '--mcp-servers', join(programs.path, 'servers.json')]
  server = await startServer({ database, words })
  const tool = {
    name: 'attack',
    displayName: 'Attack',
    description: 'Attacks the worker that runs it.',
    inputSchema: { type: 'object' },
    executorType: 'mcp',
    executorConfig: { server: 'attacker', tool: 'attack' },
  }
  const made = await server.request('POST', '/tools', { body: tool })
  expect(made.status, made.text).toBe(201)
  expect((await server.request('POST', '/tools/attack/activate')).status).toBe(200)
})

afterAll(async () => {
  await server?.stop()
  await postgres?.stop()
  for (const folder of [programs, home]) folder.remove()
})

/** The findings of a program of an MCP server about the worker that started it, and about its launcher. */
async function attackWorker(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const words = ['--mcp-servers', join(programs.path, 'servers.json')]
  const worker = await startWorker({ database, words, env: { TOOLDEX_HOME: home.path, ...attackedSecrets, ...env } })
  onTestFinished(() => worker.stop())
  const children = readFileSync(`/proc/${worker.pid}/task/${worker.pid}/children`, 'utf8').trim().split(' ')
  const input = { pids: [worker.pid, ...children.filter(Boolean).map(Number)], home: home.path }
  const { body } = await server.request('POST', '/tools/attack/execute', { body: { input, wait: true } })
  expect(body).toMatchObject({ status: 'SUCCESS' })
  await worker.stop()
  return foundBy(body.outputData)
}

it('a program of an MCP server reads nothing of the worker that started it', async () => {
  expect(await attackWorker()).toBe('')
})

itAsRoot('it would have without the shield, so the attack is one', async () => {
  expect(await attackWorker({ TOOLDEX_SHIELD: 'off' })).toMatch(/TOOLDEX_SECRET_KEY.*file.*memory.*planted/)
})
