import { TooldexError } from '../base/errors.ts'
import { toOneLine } from '../base/invisible-characters.ts'

const conflicts = new Set(['40001', '40P01'])
/** The codes of a server that cannot be reached. */
const unreachable = new Set([
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
  readonly hint?: string
}

/** The errors of a reachable database that cannot serve now, by SQLSTATE. */
const refusals: Readonly<Record<string, Refusal>> = {
  '53300': {
    message: 'The database has no free connection: too many clients are connected.',
    hint: 'Try again shortly; raise max_connections, or lower TOOLDEX_DATABASE_CONNECTIONS of the processes that share the database.',
  },
  '53400': {
    message: 'The database has reached a limit of its configuration.',
    hint: 'Try again shortly; the log of the database names the limit.',
  },
  '53100': { message: 'The disk of the database is full.', hint: 'Free disk space, then try again.' },
  '53200': { message: 'The database is out of memory.', hint: 'Try again shortly, or raise its memory limit.' },
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
  '57014': {
    message: 'A statement exceeded the time limit of the database.',
    hint: 'Try again shortly, or request less.',
  },
  '57P01': { message: 'The database is shutting down.', hint: 'Try again when it is back.' },
  '57P02': { message: 'The database is restarting after a crash.', hint: 'Try again shortly.' },
  '57P03': { message: 'The database is starting or stopping.', hint: 'Try again shortly.' },
  '57P05': { message: 'The database closed an idle connection.', hint: 'Try again.' },
  '25P03': { message: 'The database closed an idle transaction.', hint: 'Try again.' },
  '25P04': { message: 'The database ended a transaction that took too long.', hint: 'Try again shortly.' },
  NOT_POSTGRES: {
    message: 'The server at the address of the database is not PostgreSQL.',
    hint: 'Correct host and port in DATABASE_URL.',
  },
}

/** A connection pooler in front of the database has its own codes, and names the reached limit only in its message. */
function poolerRefusal({ code, text = '' }: DatabaseFailure): Refusal | undefined {
  const isPooler = code === '08P01' || (code === 'XX000' && /max ?clients|pool/i.test(text))
  if (!isPooler) return undefined
  return {
    message: `The connection pooler of the database rejected the connection: ${toOneLine(text)}.`,
    hint: 'Try again shortly; raise the limit in the message, or lower TOOLDEX_DATABASE_CONNECTIONS.',
  }
}

/** Whether no connection was available: nothing was executed, and waiting helps. */
export const isOutOfConnections = (failure: DatabaseFailure): boolean =>
  failure.code === '53300' || poolerRefusal(failure) !== undefined

const uniqueNames: Readonly<Record<string, string>> = {
  tools_name: 'A tool',
  tool_categories_name: 'A category',
  api_keys_name: 'A key',
}

type Thrown = Error & { code?: unknown; constraint?: string; constraint_name?: string; detail?: string }

export interface DatabaseFailure {
  readonly code?: string
  readonly constraint?: string
  /** The conflicting values. */
  readonly detail?: string
  /** The message of the engine; for operators of the database, not for callers. */
  readonly text?: string
}

/** Whether concurrent transactions conflicted, so that a retry helps. */
export const isConflict = (code: string | undefined): boolean => conflicts.has(code ?? '')

/** The error of the driver, without the wrappers of the query builder and of this project. */
export function databaseCauseOf(thrown: unknown): DatabaseFailure {
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

/** Whether the data caused the failure: an invalid value, or a violated constraint. */
export const isOfContent = (thrown: unknown): boolean => /^(22|23|54)/.test(databaseCauseOf(thrown).code ?? '')

/** Both engines report the values as `(workspace_id, name)=(default, send_report)`; a workspace contains no comma. */
function nameTaken(constraint = '', detail = ''): TooldexError {
  const kind = uniqueNames[constraint]
  if (kind === undefined) return new TooldexError('NAME_TAKEN', 'An entry with these values already exists.')
  const [, name] = /=\([^,]*, (.*)\)/s.exec(detail) ?? []
  const label = name === undefined ? 'with this name' : `named '${toOneLine(name)}'`
  const problems = [{ severity: 'error', pointer: '/name', message: 'the name is taken' }] as const
  return new TooldexError('NAME_TAKEN', `${kind} ${label} already exists.`, { problems })
}

function refusalOf(code: string, failure: DatabaseFailure): Refusal | undefined {
  const { text } = failure
  const known = refusals[code] ?? poolerRefusal(failure)
  if (known !== undefined) return known
  if (isConflict(code))
    return { message: 'A concurrent transaction changed the same rows.', hint: 'Try again shortly.' }
  if (code.startsWith('28') || code === '3D000') {
    const hint = 'Check user, password and database in DATABASE_URL.'
    return { message: `The database rejected the connection: ${text}.`, hint }
  }
  if (code === 'TLS_REFUSED') {
    const hint = 'Check sslmode and sslrootcert in DATABASE_URL.'
    return { message: `The database cannot be reached over TLS: ${text}.`, hint }
  }
  const isUnreachable = unreachable.has(code) || code.startsWith('08')
  return isUnreachable ? { message: 'The database does not answer.' } : undefined
}

/** Converts a failure of the database to a TooldexError; other errors are returned unchanged. */
export function toStorageError(thrown: unknown): unknown {
  if (thrown instanceof TooldexError) return thrown
  const failure = databaseCauseOf(thrown)
  const { code, constraint, detail } = failure
  if (code === undefined) return thrown
  if (code === '23505') return nameTaken(constraint, detail)
  if (code === '23503')
    return new TooldexError('NOT_FOUND', 'A referenced tool, category or execution no longer exists.', {
      cause: thrown,
    })
  const { message, ...hint } = refusalOf(code, failure) ?? {}
  if (message !== undefined) return new TooldexError('UNAVAILABLE', message, { ...hint, cause: thrown })
  if (code === '22P05' || code === '22021')
    return new TooldexError('BODY_INVALID', 'A string contains the character U+0000, which cannot be stored.')
  return thrown
}
