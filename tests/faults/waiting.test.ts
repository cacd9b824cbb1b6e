import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { auditRuns, keepHistory, type Recorded } from '../support/audit-runs.ts'
import { holdConnection } from '../support/hold-connection.ts'
import { needs } from '../support/needs.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { lastingFolder, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand } from '../support/traced-tools.ts'
import { findProcesses, uniqueSeconds } from './processes.ts'
import { containments, runTool } from './run-tool.ts'

// Each of these waits half a minute for a limit to be reached, so they wait together.

let postgres: SharedPostgres
let where: Recorded
let server: TestServer
beforeAll(async () => {
  postgres = await sharedPostgres()
  where = { url: await postgres.createDatabase() }
  await keepHistory(where)
  server = await startServer({ limitedBecause: 'its tools write to files of the test', database: where.url })
})
afterAll(async () => {
  await server?.stop()
  expect(await auditRuns(where)).toEqual([])
  await postgres.stop()
})

const slow = (seconds: string) =>
  tempScript(
    'slow',
    `#!/bin/bash\necho started\necho warned >&2\nsleep ${seconds} &\nsleep ${seconds}\n`,
    lastingFolder(),
  )

const closed = (socket: Socket): Promise<number> => {
  const started = performance.now()
  socket.resume()
  return new Promise((resolve) => socket.once('close', () => resolve(performance.now() - started)))
}

describe.concurrent('limits of half a minute', () => {
  it('57: past 30 s without a limit of its own, and past its own: TIMEOUT, the output so far kept, none of its tree left', async () => {
    const seconds = uniqueSeconds()
    await registerCommand(server, 'slow', slow(seconds))
    const run = async (more: { timeoutMs?: number }) => {
      const { body } = await execute(server, 'slow', {}, { wait: true, ...more })
      const kept = (await server.request('GET', `/executions/${body.id}`)).body
      expect(kept).toEqual(body)
      return kept
    }
    const [plain, own] = await Promise.all([run({}), run({ timeoutMs: 15_000 })])
    expect(findProcesses(seconds)).toEqual([])
    for (const row of [plain, own]) {
      expect(row).toMatchObject({ status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT', outputData: 'started\n' })
      expect(row.logs.stderr).toBe('warned\n')
    }
    expect(plain.timeoutMs).toBe(30_000)
    expect(plain.durationMs).toBeGreaterThan(29_000)
    expect(own.durationMs).toBeLessThan(plain.durationMs)
  })

  it('35: heads and bodies that come too slowly are let go, and others are served meanwhile', async () => {
    const heads = Array.from({ length: 200 }, () =>
      holdConnection(server, 'GET /api/v1/tools HTTP/1.1\r\nhost: localhost\r\nx-slow: '),
    )
    const bodies = Array.from({ length: 50 }, () =>
      holdConnection(
        server,
        `POST /api/v1/tools HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
      ),
    )
    const ends = Promise.all([...heads.map(closed), ...bodies.map(closed)])
    const dripping = setInterval(() => {
      for (const socket of [...heads, ...bodies]) if (socket.writable) socket.write('a')
    }, 1000)
    for (let index = 0; index < 20; index++) expect((await server.request('GET', '/tools?limit=1')).status).toBe(200)
    await ends
    clearInterval(dripping)
    expect((await server.request('GET', '/tools?limit=1')).status).toBe(200)
  })
})

describe.concurrent('a command without a database', () => {
  const usable = containments.filter(
    ({ kind }) => kind === 'process-group' || containments[0]?.containment.kind === kind,
  )

  needs(process.platform === 'linux', 'leftovers are looked for in /proc')(
    'fault 57: with no limit of its own is ended at 30 s, its output kept and its tree gone',
    async () => {
      const seconds = uniqueSeconds()
      const command = slow(seconds)
      const outcomes = await Promise.all(usable.map(({ containment }) => runTool({ command }, { containment })))
      expect(findProcesses(seconds)).toEqual([])
      for (const { status, errorCode, errorMessage, result } of outcomes) {
        expect([status, errorCode]).toEqual(['TIMEOUT', 'EXECUTION_TIMEOUT'])
        expect(errorMessage).toBe('Command timed out after 30.0s')
        expect(result.durationMs).toBeGreaterThan(29_000)
        expect([result.stdout, result.stderr]).toEqual(['started\n', 'warned\n'])
      }
    },
  )
})
