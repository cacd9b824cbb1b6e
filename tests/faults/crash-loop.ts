import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { auditRuns, keepHistory, type Recorded } from '../support/audit-runs.ts'
import { projectRoot } from '../support/run-cli.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { execute, TracedTools, untilEnded, untilQuiet } from '../support/traced-tools.ts'
import { findProcesses } from './processes.ts'

export const faultyMain = join(projectRoot, 'tests', 'support', 'faulty-main.mjs')

type Kind = 'waited for' | 'queued' | 'queued, safe to repeat'
interface Call {
  readonly kind: Kind
  readonly mark: string
  /** What the caller was told before everything ended. */
  told?: { id: string; status: string }
}

/** What may have become of the call during which the process was killed: state, attempts, and how often it was begun. */
function possible(kind: Kind, point: string): readonly string[] {
  const at = point.slice(0, 2)
  if (at === 'F7') return ['SUCCESS 1 begun 1']
  const before = at === 'F1' || at === 'F2' ? [0] : at === 'F3' ? [0, 1] : [1]
  const lost = before.map((begun) =>
    kind === 'queued, safe to repeat' ? `SUCCESS 2 begun ${begun + 1}` : `FAILED 1 begun ${begun}`,
  )
  // What was only queued is taken by whoever comes next, unless it was taken in this very moment.
  return at === 'F1' && kind !== 'waited for' ? ['SUCCESS 1 begun 1', ...lost] : lost
}

/** Kills the server at the first point it reaches, then at the second, until nothing is left to be killed at. */
export async function crashLoop(database: string | undefined, words: readonly string[]): Promise<readonly string[]> {
  const home = tempFolder()
  const tools = new TracedTools(home)
  const where: Recorded = database === undefined ? { home } : { url: database }
  const [killFile, pointsFile] = [join(home, 'kill-at'), join(home, 'points')]
  await keepHistory(where)
  const env = {
    TOOLDEX_LEASE_MS: '2000',
    TEST_KILL_FILE: killFile,
    TEST_POINTS_FILE: pointsFile,
    TEST_POINTS: '^F[1-7]',
  }
  const start = () =>
    startServer({
      limitedBecause: 'crashes are the subject, with hundreds of calls',
      database,
      home,
      words: ['--log-level', 'ERROR', ...words],
      env,
      entry: faultyMain,
    })
  let server = await start()
  const killedAt: string[] = []
  try {
    await tools.register(server, 'once')
    await tools.register(server, 'safe', { safe: true })
    for (let step = 1; ; step++) {
      rmSync(pointsFile, { force: true })
      writeFileSync(killFile, String(step))
      const calls = await makeCalls(server, step)
      if (server.alive()) {
        expect(calls.map(({ told }) => told?.status)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS'])
        break
      }
      await server.ended
      rmSync(killFile)
      const point = lastLine(pointsFile)
      killedAt.push(`${point}, ${calls.at(-1)?.kind}`)
      await expect.poll(() => findProcesses(`step-${step}-`)).toEqual([])
      server = await start()
      await untilQuiet(server)
      for (const call of calls) await checkCall(server, tools, call, call === calls.at(-1) ? point : undefined)
    }
  } finally {
    await server.stop()
  }
  expect(await auditRuns(where)).toEqual([])
  return killedAt
}

async function makeCalls(server: TestServer, step: number): Promise<readonly Call[]> {
  const calls: Call[] = []
  for (const kind of ['waited for', 'queued', 'queued, safe to repeat'] as const) {
    const call: Call = { kind, mark: `step-${step}-${calls.length}` }
    calls.push(call)
    try {
      const tool = kind === 'queued, safe to repeat' ? 'safe' : 'once'
      const { body } = await execute(
        server,
        tool,
        { mark: call.mark },
        { wait: kind === 'waited for', traceId: call.mark },
      )
      call.told = { id: body.id, status: body.status }
      if (kind !== 'waited for') call.told = { id: body.id, status: (await untilEnded(server, body.id)).status }
    } catch (error) {
      await Promise.race([server.ended, new Promise((resolve) => setTimeout(resolve, 60_000))])
      if (server.alive()) throw error
      break
    }
    if (!server.alive()) break
  }
  return calls
}

async function checkCall(
  server: TestServer,
  tools: TracedTools,
  { kind, mark, told }: Call,
  point: string | undefined,
) {
  const { items } = (await server.request('GET', `/executions?trace=${mark}`)).body
  expect(items, `${mark} killed at ${point}`).toHaveLength(1)
  const [{ id, status, attempt, errorCode }] = items
  const { begun, ended } = tools.count(mark)
  const about = `${kind}, killed at ${point}: ${JSON.stringify({ status, attempt, errorCode, begun, ended, told })}`
  if (told !== undefined) expect(told.id, about).toBe(id)
  if (told !== undefined && !['PENDING', 'RUNNING'].includes(told.status)) expect(status, about).toBe(told.status)
  const wanted = point === undefined ? ['SUCCESS 1 begun 1'] : possible(kind, point)
  expect(wanted, about).toContain(`${status} ${attempt} begun ${begun}`)
  if (status === 'FAILED') expect(errorCode, about).toBe('WORKER_LOST')
  if (status !== 'SUCCESS') return
  const { outputData } = (await server.request('GET', `/executions/${id}`)).body
  expect(outputData).toBe(`half of ${mark}\nwhole of ${mark}\n`)
}

const lastLine = (file: string): string =>
  existsSync(file) ? (readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '') : ''
