import { spawn } from 'node:child_process'

/** The outcome of a program that ran in Python. */
export type PythonResponse =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'absent' | 'late' | 'cancelled' | 'crashed' }

export interface PythonRequest {
  readonly python: string
  readonly program: string
  readonly input: string
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

const maxOutput = 100_000

/** Runs a small program in an isolated Python, with the input on stdin; it is killed at the deadline. */
export function queryPython({ python, program, input, deadlineMs, signal }: PythonRequest): Promise<PythonResponse> {
  if (signal?.aborted) return Promise.resolve({ kind: 'cancelled' })
  return new Promise((resolve) => {
    const child = spawn(python, ['-I', '-S', '-E', '-B', '-c', program], {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let text = ''
    let stopped: 'late' | 'cancelled' | 'crashed' | undefined
    const stop = (why: 'late' | 'cancelled' | 'crashed') => {
      stopped ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => stop('late'), deadlineMs)
    const cancel = () => stop('cancelled')
    signal?.addEventListener('abort', cancel, { once: true })
    const end = (response: PythonResponse) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      resolve(response)
    }
    child.on('error', () => end({ kind: 'absent' }))
    child.on('close', (code) =>
      end(stopped === undefined && code === 0 ? { kind: 'answer', text } : { kind: stopped ?? 'crashed' }),
    )
    // A program may end before it has read all input; its exit code is reported.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.length > maxOutput) stop('crashed')
    })
  })
}
