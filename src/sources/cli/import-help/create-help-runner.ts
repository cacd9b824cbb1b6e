import { type ChildProcess, spawn } from 'node:child_process'
import { TooldexError } from '../../../base/errors.ts'
import type { Environment } from '../../../base/expand-variables.ts'
import { isOwnVariable, processEnv } from '../../../rules/settings.ts'

/** The help output of a program. */
export interface HelpOutput {
  readonly stdout: string
  readonly stderr: string
  /** None where it had to be ended. */
  readonly exitCode: number | null
}

/** Runs a command for the help it prints. */
export type RunHelp = (argv: readonly string[], signal?: AbortSignal) => Promise<HelpOutput>

/** How help is run. */
export interface HelpRunnerOptions {
  /** The file that a command word runs; throws where there is none. */
  readonly locate: (word: string) => string
  readonly env?: Environment | undefined
  readonly timeoutMs?: number | undefined
  /** Of each of the two streams; a program that prints more is ended. */
  readonly maxBytes?: number | undefined
}

const defaults = { timeoutMs: 5000, maxBytes: 1024 * 1024 } as const
const closeWithinMs = 500

// Plain text, no pager, wide lines, and in English: the headings are known in English.
const plainOutput = {
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
  NO_COLOR: '1',
  TERM: 'dumb',
  COLUMNS: '200',
  MANWIDTH: '200',
  LC_ALL: 'C.UTF-8',
  LANGUAGE: 'en',
}

/** Makes the function that runs help for real: no shell, no stdin, a deadline, and nothing left behind. */
export function createHelpRunner(options: HelpRunnerOptions): RunHelp {
  const { timeoutMs = defaults.timeoutMs, maxBytes = defaults.maxBytes, env = processEnv } = options
  return (argv, signal) => {
    const [word = '', ...args] = argv
    const child = spawn(options.locate(word), args, {
      argv0: word,
      env: { ...withoutOurs(env), ...plainOutput },
      // A group of its own, so that a pager or whatever else it starts is ended with it.
      detached: true,
      shell: false,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return readOutput(child, { timeoutMs, maxBytes, signal })
  }
}

interface ReadLimits {
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal: AbortSignal | undefined
}

function readOutput(child: ChildProcess, { timeoutMs, maxBytes, signal }: ReadLimits): Promise<HelpOutput> {
  return new Promise((resolve, reject) => {
    const stop = () => killGroup(child)
    const stdout = collect(child.stdout, maxBytes, stop)
    const stderr = collect(child.stderr, maxBytes, stop)
    const deadline = setTimeout(stop, timeoutMs)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    const settle = (end: () => void) => {
      clearTimeout(deadline)
      signal?.removeEventListener('abort', stop)
      end()
    }
    child.once('error', (error) => settle(() => reject(error)))
    child.once('exit', () => endRest(child))
    child.once('close', (exitCode) => {
      settle(() => (signal?.aborted ? reject(cancelled()) : resolve({ stdout: stdout(), stderr: stderr(), exitCode })))
    })
  })
}

/** Whatever the program left behind must not hold its output open. */
function endRest(child: ChildProcess): void {
  killGroup(child)
  const late = setTimeout(() => {
    child.stdout?.destroy()
    child.stderr?.destroy()
  }, closeWithinMs)
  child.once('close', () => clearTimeout(late))
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

function collect(stream: ChildProcess['stdout'], maxBytes: number, stop: () => void): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream?.on('data', (chunk: Buffer) => {
    if (bytes < maxBytes) chunks.push(chunk.subarray(0, maxBytes - bytes))
    bytes += chunk.length
    if (bytes > maxBytes) stop()
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

/** Settings and secrets of Tooldex itself never reach a program. */
function withoutOurs(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOwnVariable(name)))
}

const cancelled = () => new TooldexError('EXECUTION_CANCELLED', 'The import was cancelled before it ended.')
