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
}

/** `file:line:column: message (hint)`, leaving out what is not known. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, pointer, message, hint } = problem
  const place =
    file === undefined ? (pointer ?? '') : [file, line, column].filter((part) => part !== undefined).join(':')
  return `${place === '' ? '' : `${place}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
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
