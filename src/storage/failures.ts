import { TooldexError } from '../base/errors.ts'
import { toOneLine } from '../base/visible-text.ts'

const conflicts = new Set(['40001', '40P01'])
const lockTimeout = '55P03'
const away = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  // The server is stopping, starting, read-only, out of connections, out of room, or took too long.
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '57014',
  '25006',
  '53100',
  '53200',
  '53300',
  '53400',
  '25P03',
  '25P04',
  // A file could not be read or written.
  '58030',
])
const taken: Readonly<Record<string, string>> = {
  tools_name: 'A tool',
  tool_categories_name: 'A category',
  api_keys_name: 'A key',
}

type Thrown = Error & { code?: unknown; constraint?: string; constraint_name?: string; detail?: string }

export interface DatabaseFailure {
  readonly code?: string
  readonly constraint?: string
  /** The values that it is about. */
  readonly detail?: string
  /** What the engine says; for those who look after the database, not for callers. */
  readonly text?: string
}

/** Whether two got in each other's way, so that trying again helps. */
export const isConflict = (code: string | undefined): boolean => conflicts.has(code ?? '')

/** What the driver threw, below what the query builder and we wrapped around it. */
export function causeOf(thrown: unknown): DatabaseFailure {
  let current = thrown as Thrown | undefined
  for (let depth = 0; depth < 6 && typeof current === 'object' && current !== null; depth++) {
    if (typeof current.code === 'string' && !(current instanceof TooldexError)) {
      const constraint = current.constraint ?? current.constraint_name
      const { code, message: text, detail } = current
      return { code, text, ...(constraint === undefined ? {} : { constraint }), ...(detail ? { detail } : {}) }
    }
    current = current.cause as typeof current
  }
  return {}
}

/** Whether it failed for what was given: a value that is none, or one that cannot be there beside others. */
export const isOfContent = (thrown: unknown): boolean => /^(22|23|54)/.test(causeOf(thrown).code ?? '')

/** Both engines tell the values as `(workspace_id, name)=(default, send_report)`; a workspace has no comma in it. */
function nameTaken(constraint = '', detail = ''): TooldexError {
  const kind = taken[constraint]
  if (kind === undefined) return new TooldexError('NAME_TAKEN', 'It exists already.')
  const [, name] = /=\([^,]*, (.*)\)/s.exec(detail) ?? []
  const named = name === undefined ? 'of this name' : `named '${toOneLine(name)}'`
  const problems = [{ severity: 'error', pointer: '/name', message: 'the name is taken' }] as const
  return new TooldexError('NAME_TAKEN', `${kind} ${named} exists already.`, { problems })
}

/** A failure of the database as an error of ours; what is no failure of the database stays as it is. */
export function toOurs(thrown: unknown): unknown {
  if (thrown instanceof TooldexError) return thrown
  const { code, constraint, detail, text } = causeOf(thrown)
  if (code === undefined) return thrown
  if (code === '23505') return nameTaken(constraint, detail)
  if (code === '23503')
    return new TooldexError('NOT_FOUND', 'What this refers to is not there (any more).', { cause: thrown })
  if (code === lockTimeout || isConflict(code))
    return new TooldexError('UNAVAILABLE', 'Others are changing the same thing; it stayed locked too long.', {
      hint: 'Try again shortly.',
      cause: thrown,
    })
  if (code.startsWith('28') || code === '3D000')
    return new TooldexError('UNAVAILABLE', `The database refuses the connection: ${text}.`, {
      hint: 'Check DATABASE_URL.',
      cause: thrown,
    })
  if (code === 'TLS_REFUSED')
    return new TooldexError('UNAVAILABLE', `The database cannot be reached over TLS: ${text}.`, {
      hint: 'Check sslmode and sslrootcert in DATABASE_URL.',
      cause: thrown,
    })
  if (away.has(code) || code.startsWith('08'))
    return new TooldexError('UNAVAILABLE', 'The database does not answer.', { cause: thrown })
  if (code === '22P05' || code === '22021')
    return new TooldexError('BODY_INVALID', 'A text has a character that cannot be kept (U+0000).')
  return thrown
}
