import { expect, onTestFinished } from 'vitest'
import { auditRuns, keepHistory } from '../support/audit-runs.ts'
import type { SharedPostgres } from '../support/start-postgres.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { startWorker } from '../support/start-worker.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { execute, TracedTools, untilQuiet } from '../support/traced-tools.ts'

// Runs are given up after three fifths of it without a renewal, which a loaded machine must not reach.
export const leaseMs = 5000
export const leaseEnv = { TOOLDEX_LEASE_MS: String(leaseMs) }

interface QueueOptions {
  readonly servers?: number
  readonly env?: typeof leaseEnv
}

/** A server that takes no queued work, a function that starts workers for it, and an audit of the promises. */
export async function openQueue(postgres: SharedPostgres, { servers = 1, env: more = leaseEnv }: QueueOptions = {}) {
  const database = await postgres.createDatabase()
  await keepHistory({ url: database })
  const folder = tempFolder()
  const tools = new TracedTools(folder)
  const started: TestServer[] = []
  for (let count = 0; count < servers; count++)
    started.push(
      await startServer({
        limitedBecause: 'its tools write to files of the test',
        database,
        env: more,
        words: ['--no-worker'],
      }),
    )
  onTestFinished(async () => {
    for (const server of started) await server.stop()
  })
  const [server] = started as [TestServer]
  await tools.register(server, 'once')
  await tools.register(server, 'safe', { safe: true })
  const worker = async (options: Partial<Parameters<typeof startWorker>[0]> = {}) => {
    const one = await startWorker({
      limitedBecause: 'its tools write to files of the test',
      database,
      ...options,
      env: { ...more, ...options.env },
    })
    onTestFinished(() => one.stop())
    return one
  }
  const queue = async (tool: string, input: object) => (await execute(server, tool, input)).body.id as string
  const audit = async () => {
    await untilQuiet(server)
    expect(await auditRuns({ url: database })).toEqual([])
  }
  return { database, folder, tools, server, worker, queue, audit }
}
