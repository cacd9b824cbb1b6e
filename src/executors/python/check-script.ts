import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Semaphore } from '../../base/semaphore.ts'
import { didYouMean } from '../../base/suggest.ts'
import { toOneLine } from '../../base/visible-text.ts'
import { findPython } from '../process/find-python.ts'
import { type PythonResponse, queryPython } from './query-python.ts'
import { scriptChecker } from './script-checker.ts'

export interface CheckScriptOptions {
  readonly signal?: AbortSignal | undefined
  /** The Python to ask; else the system's. */
  readonly python?: string | undefined
  /** Bounds how many checks start a process at once. */
  readonly turns?: Semaphore | undefined
}

const deadlineMs = 5000
const maxCharacters = 1_000_000

const place = { line: z.int().nullable(), column: z.int().nullable() }
const Answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('syntax'), ...place, message: z.string() }),
  z.object({ kind: z.literal('deep') }),
  z.object({ kind: z.literal('no main'), names: z.array(z.string()) }),
  z.object({
    kind: z.literal('main'),
    ...place,
    decorated: z.boolean(),
    least: z.int(),
    most: z.int(),
    rest: z.boolean(),
    named: z.array(z.string()),
  }),
])
type Answer = z.infer<typeof Answer>

/** What is wrong with the script of a Python tool: it must parse and define `main` for one argument; it is never run. */
export async function checkScript(source: string, options: CheckScriptOptions = {}): Promise<readonly Problem[]> {
  const wrong = checkText(source)
  if (wrong !== undefined) return [wrong]
  const python = options.python ?? findPython()
  const { signal, turns } = options
  const question = { program: scriptChecker, input: source, deadlineMs, signal }
  const ask = async (): Promise<PythonResponse> =>
    python === undefined ? { kind: 'absent' } : queryPython({ ...question, python })
  const answer = turns === undefined ? await ask() : await turns.run(ask, { signal })
  if (answer.kind === 'cancelled')
    throw new TooldexError('EXECUTION_CANCELLED', 'The check of the script was cancelled.')
  if (answer.kind !== 'answer') return [couldNotAsk(answer.kind)]
  const parsed = Answer.safeParse(readAnswer(answer.text))
  return parsed.success ? describe(parsed.data, source) : [couldNotAsk('crashed')]
}

function checkText(source: string): Problem | undefined {
  if (source.length > maxCharacters)
    return problem(`the script has more than ${maxCharacters} characters`, 'make it shorter')
  if (source.trim() === '') return problem('the script is empty', mainHint)
  const at = source.search(/\0|\p{Surrogate}/u)
  if (at < 0) return undefined
  const before = source.slice(0, at)
  const what = source[at] === '\0' ? 'the character U+0000' : 'half a character (a lone surrogate)'
  const where = { line: before.split('\n').length, column: at - before.lastIndexOf('\n') }
  return { ...problem(`the script has ${what}`, 'remove it'), ...where }
}

function readAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function couldNotAsk(kind: 'absent' | 'late' | 'crashed'): Problem {
  if (kind === 'absent')
    return problem('python3 is needed to check the script, and is not there', 'install Python 3.9 or newer')
  if (kind === 'late')
    return problem(`the script could not be checked within ${deadlineMs / 1000} seconds`, 'make it simpler')
  return problem('Python gave up on the script', 'make it simpler: it may nest too deeply')
}

const mainHint = 'add: def main(arguments):'

function describe(answer: Answer, source: string): readonly Problem[] {
  if (answer.kind === 'deep') return [problem('the script nests too deeply for Python', 'make it simpler')]
  if (answer.kind === 'no main') {
    return [
      problem(`the script defines no function 'main' at its top level.${didYouMean('main', answer.names)}`, mainHint),
    ]
  }
  const where = {
    ...(answer.line === null ? {} : { line: Math.max(1, answer.line) }),
    ...(answer.column === null ? {} : { column: Math.max(1, answer.column) }),
  }
  if (answer.kind === 'syntax')
    return [
      { ...problem(`the script is not valid Python: ${answer.message}`, lineHint(source, answer.line)), ...where },
    ]
  // What a decorator makes of a function cannot be seen from its words.
  const takesOne = answer.least <= 1 && (answer.most >= 1 || answer.rest) && answer.named.length === 0
  if (answer.decorated || takesOne) return []
  return [{ ...problem('main must take exactly one argument by position', 'write: def main(arguments):'), ...where }]
}

/** The line that Python stumbled over, for those who do not have the script at hand. */
function lineHint(source: string, line: number | null): string | undefined {
  const text = toOneLine((source.split(/\r\n?|\n/)[Math.max(1, line ?? 1) - 1] ?? '').trim())
  return line === null || text === '' ? undefined : `mend the line \`${text.slice(0, 100)}\``
}

function problem(message: string, hint?: string): Problem {
  return { severity: 'error', message, ...(hint === undefined ? {} : { hint }) }
}
