import { type ErrorCode, TooldexError } from '../base/errors.ts'
import { fromPointer, type Problem } from '../base/problem.ts'
import { toSentence, withoutPeriod } from '../base/sentences.ts'
import { withDefaultHint } from './default-hints.ts'

/** More than these are counted, not listed: nobody mends more at once, and an answer has to end somewhere. */
export const maxProblems = 200

/** Something that is refused for what is wrong with it. */
interface Refusal {
  readonly code: ErrorCode
  /** What it is, as a sentence begins: `The tool`. */
  readonly what: string
  readonly problems: readonly Problem[]
  /** Whose problems they are, where their places do not say it. */
  readonly of?: readonly string[]
  readonly hint?: string
  /** Up to how many problems are said in the message too; more are only counted there. */
  readonly said?: number
  /** Whether there are more problems than are known here. */
  readonly more?: boolean
}

/** `The tool was refused: 4 problems.`: one problem is said, several are counted, and listed beside. */
export function toProblemError({ code, what, problems, of = [], hint, said = 1, more = false }: Refusal): TooldexError {
  const errors = problems.filter(({ severity }) => severity === 'error')
  const listed = problems.length > maxProblems ? errors.slice(0, maxProblems) : problems
  const inWords = errors.length <= said && !more
  const text = inWords ? errors.map((each) => sayProblem(each, of)).join('; ') : countAll(errors.length, { of, more })
  const message = `${what} was refused: ${text}`
  const options = { problems: listed.map(withDefaultHint), ...(hint === undefined ? {} : { hint }) }
  return new TooldexError(code, toSentence(message), options)
}

function countAll(count: number, { of, more }: { readonly of: readonly string[]; readonly more: boolean }): string {
  const number = `${more ? 'more than ' : ''}${count} problem${count === 1 ? '' : 's'}`
  const names = of.slice(0, maxNames).join(', ')
  const others = of.length > maxNames ? ` and ${of.length - maxNames} more` : ''
  const cut = more || count > maxProblems ? `, of which the first ${Math.min(count, maxProblems)} are named` : ''
  return `${number}${names === '' ? '' : ` in ${names}`}${others}${cut}`
}

const maxNames = 5

/** Whose it is, where it is as far as the words do not say it, and what is wrong there. */
function sayProblem({ pointer = '', file, line, column, message }: Problem, [name]: readonly string[]): string {
  const words = withoutPeriod(message)
  const field = fromPointer(pointer).at(-1)
  const known = file !== undefined || field === undefined || words.includes(field)
  const lines = file !== undefined || line === undefined ? [] : [`line ${line}, column ${column ?? 1}`]
  return [...(name === undefined ? [] : [name]), ...(known ? [] : [pointer]), ...lines, words].join(': ')
}
