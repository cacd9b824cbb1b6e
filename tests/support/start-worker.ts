import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { mainFile } from './run-cli.ts'
import type { ServerOptions } from './start-server.ts'
import { sandboxVariables } from './test-sandbox.ts'

/** A `tooldex worker` of a test's own. */
export interface TestWorker {
  readonly pid: number
  stderr(): string
  signal(name: NodeJS.Signals): void
  /** Resolves with the exit code once the process is gone. */
  readonly ended: Promise<number | null>
  stop(): Promise<void>
}

interface WorkerOptions extends Pick<ServerOptions, 'limitedBecause'> {
  readonly database: string
  readonly words?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly entry?: string | undefined
}

const startMs = 170_000

/** Starts a worker and waits until it takes work. */
export async function startWorker({
  database,
  words = [],
  env,
  entry,
  limitedBecause,
}: WorkerOptions): Promise<TestWorker> {
  const child = spawn(process.execPath, [entry ?? mainFile, 'worker', ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...sandboxVariables(limitedBecause), DATABASE_URL: database, ...env },
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 60_000)
    await ended
    clearTimeout(late)
  }
  for (const until = Date.now() + startMs; !stderr.includes('worker runs up to'); await sleep(20)) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < until) continue
    await stop()
    throw new Error(`the worker did not start: ${stderr}`)
  }
  return { pid: child.pid as number, stderr: () => stderr, signal: (name) => void child.kill(name), ended, stop }
}
