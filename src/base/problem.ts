/** Kinds of problems that code distinguishes: those with a standard fix, and a validation that was given up. */
export type ProblemKind =
  | 'required'
  | 'too-long'
  | 'too-costly'
  | 'not-array'
  | 'not-boolean'
  | 'not-number'
  | 'not-object'
  | 'not-string'

/** One thing wrong with an input: where it is, what it is, and what to do about it. */
export interface Problem {
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly file?: string
  readonly line?: number
  readonly column?: number
  /** JSON pointer into the input, where it has no lines. */
  readonly pointer?: string
  readonly hint?: string
  /** For code only: no answer to a caller has it. */
  readonly kind?: ProblemKind
}

/** `file:line:column: message (hint)`, leaving out what is not known. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, pointer, message, hint } = problem
  const place =
    file === undefined ? (pointer ?? '') : [file, line, column].filter((part) => part !== undefined).join(':')
  return `${place === '' ? '' : `${place}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
}

/** A problem as callers read it. */
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
