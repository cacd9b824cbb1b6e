import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { StringDecoder } from 'node:string_decoder'
import { reachPoint } from '../../base/fault-points.ts'
import { killAtOnce, type RunControls } from '../../contract/executor.ts'
import { Capture, type Captured } from './capture.ts'
import type { ProcessScope } from './containment.ts'
import type { ProcessLimits } from './limits.ts'

/** A program to start, already found and checked. */
export interface ProcessRequest {
  readonly program: string
  /** The words of the command as its program sees them, its own name first. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Buffer | undefined
  readonly timeoutMs: number
}

/** How a process ended, and why it was made to. */
export interface ProcessEnd {
  readonly stdout: Captured
  readonly stderr: Captured
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly durationMs: number
  readonly stopped: 'timeout' | 'cancelled' | 'output' | null
}

const progressEveryMs = 250
const closeWithinMs = 1000

/** Runs a process to its end, within its limits; when this returns nothing of it is left. Throws what the system says if it cannot start. */
export async function runProcess(
  request: ProcessRequest,
  limits: ProcessLimits,
  cell: ProcessScope,
  controls: RunControls,
): Promise<ProcessEnd> {
  const started = performance.now()
  const withStdin = request.stdin !== undefined && request.stdin.length > 0
  const child = cell.waiting ?? (await startProcess(request, cell, withStdin))
  const pid = child.pid as number
  let stopped: ProcessEnd['stopped'] = null
  let forced: NodeJS.Timeout | undefined
  const stop = (why: NonNullable<ProcessEnd['stopped']>): void => {
    if (stopped !== null) return
    stopped = why
    if (controls.signal?.reason === killAtOnce) return void cell.kill(pid, 'SIGKILL')
    cell.kill(pid, 'SIGTERM')
    forced = setTimeout(() => cell.kill(pid, 'SIGKILL'), limits.graceMs)
  }
  const watch = (): void => {
    if (Math.max(stdout.bytes, stderr.bytes) > limits.outputBytes * limits.outputFactor) stop('output')
  }
  reachPoint('F3 spawned')
  const take = (name: 'stdout' | 'stderr'): Capture =>
    new Capture(child[name] as NonNullable<typeof child.stdout>, limits.outputBytes, watch, tellAs(name, controls))
  const [stdout, stderr] = [take('stdout'), take('stderr')]
  feed(child, request.stdin)

  const timer = setTimeout(() => stop('timeout'), request.timeoutMs)
  const ticker = startProgress(controls, () => stdout.bytes + stderr.bytes)
  const cancel = (): void => stop('cancelled')
  controls.signal?.addEventListener('abort', cancel, { once: true })
  if (controls.signal?.aborted) cancel()
  try {
    const [exitCode, signal] = await waitForEnd(child, () => cell.sweep(pid))
    reachPoint('F5 exit seen')
    const durationMs = Math.round((performance.now() - started) * 10) / 10
    return { stdout: stdout.end(), stderr: stderr.end(), exitCode, signal, durationMs, stopped }
  } finally {
    clearTimeout(timer)
    clearTimeout(forced)
    clearInterval(ticker)
    controls.signal?.removeEventListener('abort', cancel)
    await cell.close()
  }
}

/** Passes on what is printed, whole characters at a time. */
function tellAs(name: 'stdout' | 'stderr', { onOutput }: RunControls): ((part: Buffer) => void) | undefined {
  if (onOutput === undefined) return undefined
  const decoder = new StringDecoder('utf8')
  return (part) => {
    reachPoint('F4 half output')
    const text = decoder.write(part)
    if (text !== '') onOutput(name, text)
  }
}

/** Starts the program of a request in its cell; throws what the system says, with nothing of the cell left. */
export async function startProcess(
  request: Pick<ProcessRequest, 'program' | 'argv' | 'cwd' | 'env'>,
  cell: ProcessScope,
  withStdin: boolean,
): Promise<ChildProcess> {
  const [file, args] = cell.wrap(request.program, request.argv.slice(1))
  try {
    const options: SpawnOptions = {
      cwd: request.cwd,
      env: { ...request.env, ...cell.env },
      // A group of its own, so that signals reach all of it and a Ctrl-C in our terminal reaches none of it.
      detached: true,
      shell: false,
      windowsHide: true,
      stdio: [withStdin ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(cell.streams ?? [])],
      ...cell.user,
    }
    const child = cell.spawnInside(() => spawn(file, args, options))
    if (child.pid === undefined) {
      const [error] = await once(child, 'error')
      throw error
    }
    cell.started?.(child.pid)
    cell.opened?.(child)
    return child
  } catch (error) {
    await cell.close()
    throw error
  }
}

/** Pipes the stdin value; a program that does not read it, or stops reading, is its own affair. */
function feed(child: ChildProcess, text: string | Buffer | undefined): void {
  if (child.stdin === null) return
  child.stdin.on('error', () => {})
  child.stdin.end(text)
}

/** Waits for the exit, ends whatever the program left behind, then takes the rest of its output. */
async function waitForEnd(child: ChildProcess, sweep: () => void): Promise<[number | null, NodeJS.Signals | null]> {
  const closed = once(child, 'close')
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  sweep()
  const late = setTimeout(() => {
    for (const stream of child.stdio) stream?.destroy()
  }, closeWithinMs)
  await closed
  clearTimeout(late)
  return [code, signal]
}

function startProgress(controls: RunControls, bytes: () => number): NodeJS.Timeout | undefined {
  if (controls.onProgress === undefined) return undefined
  return setInterval(() => controls.onProgress?.(bytes()), progressEveryMs)
}
