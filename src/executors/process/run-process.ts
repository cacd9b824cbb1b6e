import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { killAtOnce, type RunControls } from '../../contract/executor.ts'
import { reachPoint } from '../../rules/fault-points.ts'
import type { ProcessScope } from './containment.ts'
import type { ProcessLimits } from './limits.ts'

/** A program to start, already found and checked. */
export interface ProcessRequest {
  readonly program: string
  /** The arguments of the program, its own name first. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Buffer | undefined
  readonly timeoutMs: number
}

/** The end of a process; `stopped` is the reason if it was killed. */
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

/** Runs a process to its end, within its limits; afterwards none of its processes is left. Throws the system error if it cannot start. */
export async function runProcess(
  request: ProcessRequest,
  limits: ProcessLimits,
  scope: ProcessScope,
  controls: RunControls,
): Promise<ProcessEnd> {
  const started = performance.now()
  const withStdin = request.stdin !== undefined && request.stdin.length > 0
  const child = scope.waiting ?? (await startProcess(request, scope, withStdin))
  const pid = child.pid as number
  let stopped: ProcessEnd['stopped'] = null
  let killTimer: NodeJS.Timeout | undefined
  const stop = (reason: NonNullable<ProcessEnd['stopped']>): void => {
    if (stopped !== null) return
    stopped = reason
    if (controls.signal?.reason === killAtOnce) return void scope.kill(pid, 'SIGKILL')
    scope.kill(pid, 'SIGTERM')
    killTimer = setTimeout(() => scope.kill(pid, 'SIGKILL'), limits.graceMs)
  }
  const watch = (): void => {
    if (Math.max(stdout.bytes, stderr.bytes) > limits.outputBytes * limits.outputFactor) stop('output')
  }
  reachPoint('F3 spawned')
  const capture = (name: 'stdout' | 'stderr'): Capture =>
    new Capture(child[name] as NonNullable<typeof child.stdout>, limits.outputBytes, watch, forwardAs(name, controls))
  const [stdout, stderr] = [capture('stdout'), capture('stderr')]
  writeStdin(child, request.stdin)

  const timer = setTimeout(() => stop('timeout'), request.timeoutMs)
  const ticker = startProgress(controls, () => stdout.bytes + stderr.bytes)
  const cancel = (): void => stop('cancelled')
  controls.signal?.addEventListener('abort', cancel, { once: true })
  if (controls.signal?.aborted) cancel()
  try {
    const [exitCode, signal] = await waitForEnd(child, () => scope.sweep(pid))
    reachPoint('F5 exit seen')
    const durationMs = Math.round((performance.now() - started) * 10) / 10
    return { stdout: stdout.end(), stderr: stderr.end(), exitCode, signal, durationMs, stopped }
  } finally {
    clearTimeout(timer)
    clearTimeout(killTimer)
    clearInterval(ticker)
    controls.signal?.removeEventListener('abort', cancel)
    await scope.close()
  }
}

/** Forwards output in complete characters. */
function forwardAs(name: 'stdout' | 'stderr', { onOutput }: RunControls): ((part: Buffer) => void) | undefined {
  if (onOutput === undefined) return undefined
  const decoder = new StringDecoder('utf8')
  return (part) => {
    reachPoint('F4 half output')
    const text = decoder.write(part)
    if (text !== '') onOutput(name, text)
  }
}

/** Starts the program of a request in its scope; closes the scope and throws the system error on failure. */
export async function startProcess(
  request: Pick<ProcessRequest, 'program' | 'argv' | 'cwd' | 'env'>,
  scope: ProcessScope,
  withStdin: boolean,
): Promise<ChildProcess> {
  const [file, args] = scope.wrap(request.program, request.argv.slice(1))
  try {
    const options: SpawnOptions = {
      cwd: request.cwd,
      env: { ...request.env, ...scope.env },
      // A group of its own, so that signals reach all of it, and a Ctrl-C in the terminal none of it.
      detached: true,
      shell: false,
      windowsHide: true,
      stdio: [withStdin ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(scope.streams ?? [])],
      ...scope.user,
    }
    const child = scope.spawnInside(() => spawn(file, args, options))
    if (child.pid === undefined) {
      const [error] = await once(child, 'error')
      throw error
    }
    scope.started?.(child.pid)
    scope.opened?.(child)
    return child
  } catch (error) {
    await scope.close()
    throw error
  }
}

/** Writes stdin; a program that does not read it is not an error. */
function writeStdin(child: ChildProcess, text: string | Buffer | undefined): void {
  if (child.stdin === null) return
  child.stdin.on('error', () => {})
  child.stdin.end(text)
}

/** Waits for the exit, ends the processes that the program left behind, then reads the rest of its output. */
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

/** The captured part of a stream. */
export interface Captured {
  readonly text: string
  /** The total number of bytes, captured or not. */
  readonly bytes: number
  readonly cut: boolean
}

/** Captures the first `maxBytes` bytes of a stream and counts the rest, so that memory use is bounded. */
export class Capture {
  readonly #chunks: Buffer[] = []
  readonly #maxBytes: number
  #captured = 0
  bytes = 0

  constructor(stream: Readable, maxBytes: number, onData: () => void, onCaptured?: (part: Buffer) => void) {
    this.#maxBytes = maxBytes
    stream.on('data', (chunk: Buffer) => {
      const captured = this.#keep(chunk)
      if (captured !== undefined) onCaptured?.(captured)
      onData()
    })
    // A pipe can break while its process is being killed; the exit status has the reason.
    stream.on('error', () => {})
  }

  #keep(chunk: Buffer): Buffer | undefined {
    this.bytes += chunk.length
    const room = this.#maxBytes - this.#captured
    if (room <= 0) return undefined
    // Copied where cut, so that the tail of a large chunk does not stay in memory.
    const part = chunk.length <= room ? chunk : Buffer.from(chunk.subarray(0, room))
    this.#chunks.push(part)
    this.#captured += part.length
    return part
  }

  /** The captured bytes as UTF-8; invalid bytes become U+FFFD, and a character that the limit splits is left out. */
  end(): Captured {
    const bytes = Buffer.concat(this.#chunks)
    const cut = this.bytes > this.#captured
    return { text: (cut ? bytes.subarray(0, wholeCharacters(bytes)) : bytes).toString('utf8'), bytes: this.bytes, cut }
  }
}

/** The number of bytes up to the last complete character. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
