import { TooldexError } from '../base/errors.ts'
import { toOneLine } from '../base/visible-text.ts'

const conflicts = new Set(['40001', '40P01'])
/** The codes of a server or a line that cannot be reached. */
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
])

interface Refusal {
  readonly message: string
  readonly hint: string
}

/** What a database that does answer says it cannot do now, by its code. */
const refusals: Readonly<Record<string, Refusal>> = {
  '53300': {
    message: 'The database has no free connection: too many clients are connected.',
    hint: 'Try again shortly; raise max_connections, or lower TOOLDEX_DATABASE_CONNECTIONS of the processes that share it.',
  },
  '53400': {
    message: 'The database has reached a limit of its configuration.',
    hint: 'Try again shortly; the log of the database names the limit.',
  },
  '53100': { message: 'The disk of the database is full.', hint: 'Free space on it, then try again.' },
  '53200': { message: 'The database is out of memory.', hint: 'Try again shortly, or give it more memory.' },
  '58030': {
    message: 'The database cannot read or write its files.',
    hint: 'Check the disk of the database; its log names the file.',
  },
  '25006': {
    message: 'The database accepts no writes: it is read-only.',
    hint: 'Wait until the primary is back, or connect to the primary.',
  },
  '55P03': {
    message: 'A lock was not released in time: another transaction changes the same rows or the table.',
    hint: 'Try again shortly.',
  },
  '57014': { message: 'The database took too long over a statement.', hint: 'Try again shortly, or request less.' },
  '57P01': { message: 'The database is shutting down.', hint: 'Try again when it is back.' },
  '57P02': { message: 'The database is restarting after a crash.', hint: 'Try again shortly.' },
  '57P03': { message: 'The database is starting or stopping.', hint: 'Try again shortly.' },
  '57P05': { message: 'The database closed an idle connection.', hint: 'Try again.' },
  '25P03': { message: 'The database closed an idle transaction.', hint: 'Try again.' },
  '25P04': { message: 'The database ended a transaction that took too long.', hint: 'Try again shortly.' },
}

/** A connection pooler in front of the database has codes of its own, and says in words what it lacks. */
function poolerRefusal({ code, text = '' }: DatabaseFailure): Refusal | undefined {
  const isPooler = code === '08P01' || (code === 'XX000' && /max ?clients|pool/i.test(text))
  if (!isPooler) return undefined
  return {
    message: `The connection pooler of the database refuses: ${toOneLine(text)}.`,
    hint: 'Try again shortly; raise the limit that it names, or lower TOOLDEX_DATABASE_CONNECTIONS.',
  }
}

/** Whether there was no connection to be had: nothing was done, and waiting for one helps. */
export const isOutOfConnections = (failure: DatabaseFailure): boolean =>
  failure.code === '53300' || poolerRefusal(failure) !== undefined

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
  const failure = causeOf(thrown)
  const { code, constraint, detail, text } = failure
  if (code === undefined) return thrown
  if (code === '23505') return nameTaken(constraint, detail)
  if (code === '23503')
    return new TooldexError('NOT_FOUND', 'What this refers to is not there (any more).', { cause: thrown })
  const refusal = refusals[code] ?? poolerRefusal(failure)
  if (refusal !== undefined)
    return new TooldexError('UNAVAILABLE', refusal.message, { hint: refusal.hint, cause: thrown })
  if (isConflict(code))
    return new TooldexError('UNAVAILABLE', 'Others changed the same rows at the same time.', {
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
