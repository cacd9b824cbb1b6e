import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../base/errors.ts'

const mostAttempts = 4
const tryAgain = new Set(['40001', '40P01'])
const lockTimeout = '55P03'
const away = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ENOENT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  // The server is stopping, starting, out of connections, out of room, or took too long.
  '57P01',
  '57P02',
  '57P03',
  '57014',
  '53100',
  '53200',
  '53300',
  '25P03',
])
const taken: Readonly<Record<string, string>> = {
  tools_name: 'A tool of this name exists already',
  tool_categories_name: 'A category of this name exists already',
  api_keys_name: 'A key of this name exists already',
}

/** Runs work on the database: what failed for being in each other's way is tried again, other failures become our own errors. */
export async function guard<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (thrown) {
      const { code } = causeOf(thrown)
      if (!tryAgain.has(code ?? '') || attempt === mostAttempts) throw toOurs(thrown)
      await sleep(Math.random() * 20 * 2 ** attempt)
    }
  }
}

interface DatabaseFailure {
  readonly code?: string
  readonly constraint?: string
}

/** What the driver threw, below what the query builder wrapped around it. */
function causeOf(thrown: unknown): DatabaseFailure {
  let current = thrown as { code?: unknown; cause?: unknown; constraint?: string; constraint_name?: string } | undefined
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    if (typeof current.code === 'string') {
      const constraint = current.constraint ?? current.constraint_name
      return { code: current.code, ...(constraint === undefined ? {} : { constraint }) }
    }
    current = current.cause as typeof current
  }
  return {}
}

function toOurs(thrown: unknown): unknown {
  if (thrown instanceof TooldexError) return thrown
  const { code, constraint } = causeOf(thrown)
  if (code === '23505') return new TooldexError('NAME_TAKEN', `${taken[constraint ?? ''] ?? 'It exists already'}.`)
  if (code === '23503')
    return new TooldexError('NOT_FOUND', 'What this refers to is not there (any more).', { cause: thrown })
  if (code === lockTimeout || tryAgain.has(code ?? ''))
    return new TooldexError('UNAVAILABLE', 'Others are changing the same thing; it stayed locked too long.', {
      hint: 'Try again shortly.',
      cause: thrown,
    })
  if (code !== undefined && (away.has(code) || code.startsWith('08')))
    return new TooldexError('UNAVAILABLE', 'The database does not answer.', { cause: thrown })
  if (code === '22P05' || code === '22021')
    return new TooldexError('BODY_INVALID', 'A text has a character that cannot be kept (U+0000).')
  return thrown
}
