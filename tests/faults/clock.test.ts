import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { auditRuns, keepHistory, queryRuns } from '../support/audit-runs.ts'
import { needs } from '../support/needs.ts'
import { projectRoot } from '../support/run-cli.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer } from '../support/start-server.ts'
import { startWorker } from '../support/start-worker.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { execute, TracedTools, untilEnded } from '../support/traced-tools.ts'

const compiler = spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0
const hour = 3600

let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
})
afterAll(() => postgres.stop())

needs(process.platform === 'linux' && compiler, 'needs Linux and a C compiler, to move the clock of a process')(
  '71: clocks of a server and a worker that jump by hours expire nothing early and nothing late',
  async () => {
    const folder = tempFolder()
    const [library, clockFile] = [join(folder, 'clock.so'), join(folder, 'clock')]
    const source = join(projectRoot, 'tests', 'support', 'jumping-clock.c')
    const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const jump = (seconds: number) => writeFileSync(clockFile, String(seconds))
    const env = { TOOLDEX_LEASE_MS: '6000', LD_PRELOAD: library, TEST_CLOCK_FILE: clockFile }
    const database = await postgres.createDatabase()
    await keepHistory({ url: database })
    const server = await startServer({
      limitedBecause: 'its tools write to files of the test',
      database,
      env,
      words: ['--no-worker'],
    })
    onTestFinished(() => server.stop())
    const worker = await startWorker({ limitedBecause: 'its tools write to files of the test', database, env })
    onTestFinished(() => worker.stop())
    const tools = new TracedTools(folder)
    await tools.register(server, 'safe', { safe: true })
    await tools.register(server, 'lonely', { more: { config: { worker: 'nobody' } } })
    const shown = async () => {
      const { headers } = await server.request('GET', '/queue')
      return (Date.parse(headers.get('date') ?? '') - Date.now()) / 1000
    }
    const begun = (mark: string) => expect.poll(() => tools.count(mark).begun).toBe(1)

    const waiting = (await execute(server, 'lonely', { mark: 'waits' })).body.id
    for (const seconds of [3 * hour, -hour]) {
      const mark = `jump-${seconds}`
      const { id } = (await execute(server, 'safe', { mark, seconds: 5 })).body
      await begun(mark)
      jump(seconds)
      await expect.poll(shown).toBeCloseTo(seconds, -2)
      expect(await untilEnded(server, id)).toMatchObject({ status: 'SUCCESS', attempt: 1 })
    }
    expect((await server.request('GET', `/executions/${waiting}`)).body.status).toBe('PENDING')

    // An hour behind, a dead worker is found as soon as ever.
    const { id } = (await execute(server, 'safe', { mark: 'abandoned', seconds: 60 })).body
    await begun('abandoned')
    worker.signal('SIGKILL')
    const swept = () =>
      queryRuns({ url: database }, `select 1 from tool_executions where id = '${id}' and worker is null`)
    await expect.poll(async () => (await swept()).length).toBe(1)
    for (const run of [id, waiting]) await server.request('POST', `/executions/${run}/cancel`)
    rmSync(clockFile)
    expect(await auditRuns({ url: database })).toEqual([])
    const strange = await queryRuns(
      { url: database },
      `select id from tool_executions where created_at > now()
      or created_at < now() - interval '10 minutes' or updated_at > now() or coalesce(duration_ms, 0) not between 0 and 600000`,
    )
    expect(strange).toEqual([])
  },
)
