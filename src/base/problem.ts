/** Kinds of problems that code distinguishes: those with a standard fix, and an abandoned validation. */
export type ProblemKind =
  | 'required'
  | 'too-long'
  | 'too-costly'
  | 'not-array'
  | 'not-boolean'
  | 'not-number'
  | 'not-object'
  | 'not-string'

/** One thing wrong with an input: its location, a message and a hint. */
export interface Problem {
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly file?: string
  readonly line?: number
  readonly column?: number
  /** JSON pointer into the input, if it has no lines. */
  readonly pointer?: string
  readonly hint?: string
  /** For code only: never part of a response. */
  readonly kind?: ProblemKind
}

/** `file:line:column: message (hint)`, without the parts that are undefined. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, pointer, message, hint } = problem
  const location =
    file === undefined ? (pointer ?? '') : [file, line, column].filter((part) => part !== undefined).join(':')
  return `${location === '' ? '' : `${location}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
}

/** A problem without the fields that are for code only. */
export function toWireProblem({ kind: _kind, ...problem }: Problem): Problem {
  return problem
}

/** A JSON pointer (RFC 6901) for a path of keys and indexes. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The names in a JSON pointer, in their order. */
export function fromPointer(pointer: string): readonly string[] {
  const parts = pointer.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}
