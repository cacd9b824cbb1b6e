import { type ErrorCode, TooldexError } from '../base/errors.ts'
import { fromPointer, type Problem } from '../base/problem.ts'
import { type Finding, toProblem } from './finding.ts'
import { toSentence, withoutPeriod } from './sentences.ts'
import { withDefaultHint } from './shape-problems.ts'

/** Further problems are counted, not listed, to bound the size of a response. */
export const maxProblems = 200

/** An input and its problems. */
interface RejectedInput {
  readonly code: ErrorCode
  /** The subject of the message: `The tool`. */
  readonly what: string
  readonly problems: readonly Problem[]
  /** The owners of the problems, if their locations do not show them. */
  readonly of?: readonly string[]
  readonly hint?: string
  /** Maximum number of problems in the message itself; more are only counted there. */
  readonly maxInMessage?: number
  /** Whether the input has more problems than those listed. */
  readonly more?: boolean
}

/** `The tool was refused: 4 problems.`: the message has one problem in full, or a count of several, which are listed beside it. */
export function toProblemError({
  code,
  what,
  problems,
  of = [],
  hint,
  maxInMessage = 1,
  more = false,
}: RejectedInput): TooldexError {
  const errors = problems.filter(({ severity }) => severity === 'error')
  const listed = problems.length > maxProblems ? errors.slice(0, maxProblems) : problems
  const inFull = errors.length <= maxInMessage && !more
  const text = inFull
    ? errors.map((each) => describeProblem(each, of)).join('; ')
    : countAll(errors.length, { of, more })
  const message = `${what} was refused: ${text}`
  const options = { problems: listed.map(withDefaultHint), ...(hint === undefined ? {} : { hint }) }
  return new TooldexError(code, toSentence(message), options)
}

/** Rejects an input in which checks found anything, with all messages in one. */
export function refuseFindings(findings: readonly Finding[]): void {
  if (findings.length === 0) return
  const message = `${findings.map((finding) => finding.message).join('; ')}.`
  throw new TooldexError('INPUT_INVALID', message, { problems: findings.map((finding) => toProblem(finding)) })
}

/** The first problems of a value in one sentence. */
export const joinProblems = (problems: readonly Problem[]): string =>
  problems
    .slice(0, 5)
    .map((problem) => describeProblem(problem, []))
    .join('; ')

function countAll(count: number, { of, more }: { readonly of: readonly string[]; readonly more: boolean }): string {
  const number = `${more ? 'more than ' : ''}${count} problem${count === 1 ? '' : 's'}`
  const names = of.slice(0, maxNames).join(', ')
  const others = of.length > maxNames ? ` and ${of.length - maxNames} more` : ''
  const cut = more || count > maxProblems ? `, of which the first ${Math.min(count, maxProblems)} are listed` : ''
  return `${number}${names === '' ? '' : ` in ${names}`}${others}${cut}`
}

const maxNames = 5

/** The owner of a problem, its location unless the message names the field, and the message. */
function describeProblem({ pointer = '', file, line, column, message }: Problem, [name]: readonly string[]): string {
  const sentence = withoutPeriod(message)
  const field = fromPointer(pointer).at(-1)
  const isLocated = file !== undefined || field === undefined || sentence.includes(field)
  const lines = file !== undefined || line === undefined ? [] : [`line ${line}, column ${column ?? 1}`]
  return [...(name === undefined ? [] : [name]), ...(isLocated ? [] : [pointer]), ...lines, sentence].join(': ')
}
