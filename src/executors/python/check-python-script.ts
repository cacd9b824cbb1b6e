import { spawn } from 'node:child_process'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import type { Problem } from '../../base/problem.ts'
import type { Semaphore } from '../../base/semaphore.ts'
import { didYouMean } from '../../base/suggest.ts'
import { TimeoutMs } from '../../contract/executor-kinds.ts'
import { findPython } from '../process/find-python.ts'
import { programText } from '../process/program-text.ts'
import { defineConfigCheck, WorkerLabel } from '../read-config.ts'
import { EnvConfig, isolationFields } from '../sandbox/sandbox-config.ts'
import { Dependencies } from './packages.ts'

export interface CheckScriptOptions {
  readonly signal?: AbortSignal | undefined
  /** The Python interpreter; that of the system where absent. */
  readonly python?: string | undefined
  /** Bounds the number of concurrent checks. */
  readonly turns?: Semaphore | undefined
}

const scriptChecker = programText('./script-checker.py', import.meta.url)
const deadlineMs = 5000
const maxCharacters = 1_000_000

const position = { line: z.int().nullable(), column: z.int().nullable() }
const CheckResult = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('syntax'), ...position, message: z.string() }),
  z.object({ kind: z.literal('deep') }),
  z.object({ kind: z.literal('no main'), names: z.array(z.string()) }),
  z.object({
    kind: z.literal('main'),
    ...position,
    decorated: z.boolean(),
    least: z.int(),
    most: z.int(),
    rest: z.boolean(),
    named: z.array(z.string()),
  }),
])
type CheckResult = z.infer<typeof CheckResult>

/** Validates the script of a Python tool without running it: it must parse and define `main` with one argument. */
export async function checkPythonScript(source: string, options: CheckScriptOptions = {}): Promise<readonly Problem[]> {
  const textProblem = checkText(source)
  if (textProblem !== undefined) return [textProblem]
  const python = options.python ?? findPython()
  const { signal, turns } = options
  const request = { program: scriptChecker(), input: source, deadlineMs, signal }
  const query = async (): Promise<PythonResponse> =>
    python === undefined ? { kind: 'absent' } : queryPython({ ...request, python })
  const result = turns === undefined ? await query() : await turns.run(query, { signal })
  if (result.kind === 'cancelled')
    throw new TooldexError('EXECUTION_CANCELLED', 'The check of the script was cancelled.')
  if (result.kind !== 'answer') return [queryProblem(result.kind)]
  const parsed = CheckResult.safeParse(readResult(result.text))
  return parsed.success ? describe(parsed.data, source) : [queryProblem('crashed')]
}

function checkText(source: string): Problem | undefined {
  if (source.length > maxCharacters)
    return problem(`the script has more than ${maxCharacters} characters`, 'shorten the script')
  if (source.trim() === '') return problem('the script is empty', mainHint)
  const index = source.search(/\0|\p{Surrogate}/u)
  if (index < 0) return undefined
  const before = source.slice(0, index)
  const what = source[index] === '\0' ? 'the character U+0000' : 'a lone surrogate, which is not a valid character'
  const where = { line: before.split('\n').length, column: index - before.lastIndexOf('\n') }
  return { ...problem(`the script contains ${what}`, 'remove it'), ...where }
}

function readResult(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function queryProblem(kind: 'absent' | 'late' | 'crashed'): Problem {
  if (kind === 'absent')
    return problem('the script cannot be checked, because python3 is not installed', 'install Python 3.9 or newer')
  if (kind === 'late')
    return problem(`the script could not be checked within ${deadlineMs / 1000} seconds`, 'simplify the script')
  return problem('Python crashed while it parsed the script', 'simplify the script: it may nest too deeply')
}

const mainHint = 'add: def main(arguments):'

function describe(result: CheckResult, source: string): readonly Problem[] {
  if (result.kind === 'deep') return [problem('the script nests too deeply for Python', 'simplify the script')]
  if (result.kind === 'no main') {
    return [
      problem(`the script defines no function 'main' at its top level.${didYouMean('main', result.names)}`, mainHint),
    ]
  }
  const where = {
    ...(result.line === null ? {} : { line: Math.max(1, result.line) }),
    ...(result.column === null ? {} : { column: Math.max(1, result.column) }),
  }
  if (result.kind === 'syntax')
    return [
      { ...problem(`the script is not valid Python: ${result.message}`, lineHint(source, result.line)), ...where },
    ]
  // A decorator may change the signature.
  const takesOne = result.least <= 1 && (result.most >= 1 || result.rest) && result.named.length === 0
  if (result.decorated || takesOne) return []
  return [{ ...problem('main must take exactly one positional argument', 'use: def main(arguments):'), ...where }]
}

/** A hint with the invalid line, for readers without access to the script. */
function lineHint(source: string, line: number | null): string | undefined {
  const text = toOneLine((source.split(/\r\n?|\n/)[Math.max(1, line ?? 1) - 1] ?? '').trim())
  return line === null || text === '' ? undefined : `fix the line \`${text.slice(0, 100)}\``
}

function problem(message: string, hint?: string): Problem {
  return { severity: 'error', message, ...(hint === undefined ? {} : { hint }) }
}

/** The outcome of a program that ran in Python. */
type PythonResponse =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'absent' | 'late' | 'cancelled' | 'crashed' }

interface PythonRequest {
  readonly python: string
  readonly program: string
  readonly input: string
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

const maxOutput = 100_000

/** Runs a small program in an isolated Python, with the input on stdin; it is killed at the deadline. */
function queryPython({ python, program, input, deadlineMs, signal }: PythonRequest): Promise<PythonResponse> {
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

/** The name of a Python environment. */
export const EnvironmentName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/,
    'must contain only letters, digits, underscores, dots and hyphens, and begin with a letter or digit',
  )

/** The config of a Python tool. */
export const PythonConfig = z.strictObject({
  environment: EnvironmentName.optional(),
  /** Packages that are installed once per host and shared by tools with the same list. */
  dependencies: Dependencies.optional(),
  env: EnvConfig.optional(),
  ...isolationFields,
  timeoutMs: TimeoutMs.optional(),
  worker: WorkerLabel.optional(),
})
export type PythonConfig = z.infer<typeof PythonConfig>

/** Validates the config of a Python tool. */
export const checkPythonConfig = defineConfigCheck(PythonConfig, ({ environment, dependencies }) =>
  environment === undefined || dependencies === undefined
    ? []
    : [{ path: ['dependencies'], message: 'cannot be combined with environment', hint: 'remove one of them' }],
)
