import { TooldexError } from '../../base/errors.ts'
import type { RunControls } from '../../contract/executor.ts'
import type { HttpConfig } from './check-config.ts'

type Auth = HttpConfig['auth']

/** The header that says who a request is from; the secret in it is asked for now, and kept nowhere. */
export async function authHeader(
  auth: Auth,
  { secret: resolve, hide }: Pick<RunControls, 'secret' | 'hide'>,
): Promise<Record<string, string>> {
  if (auth === undefined) return {}
  if (resolve === undefined) throw new TooldexError('SECRET_UNAVAILABLE', 'There are no secrets here.')
  const secret = await resolve(auth.secret)
  if (/[\0\r\n]/.test(secret)) throw new TooldexError('SECRET_UNAVAILABLE', 'The secret has a line break in it.')
  const value = headerOf(auth, secret)
  // A service that gives back what it got gives the secret back in this form.
  hide?.(auth.secret, value.replace(/^\w+ /, ''))
  return { [nameOf(auth)]: value }
}

/** The same header with the secret masked, for a dry run. */
export const maskedHeader = (auth: Auth): Record<string, string> =>
  auth === undefined ? {} : { [nameOf(auth)]: auth.type === 'header' ? mask(auth) : `${auth.type} ${mask(auth)}` }

const nameOf = (auth: NonNullable<Auth>): string => (auth.type === 'header' ? auth.name.toLowerCase() : 'authorization')

function headerOf(auth: NonNullable<Auth>, secret: string): string {
  if (auth.type === 'bearer') return `Bearer ${secret}`
  if (auth.type === 'basic') return `Basic ${Buffer.from(`${auth.username}:${secret}`).toString('base64')}`
  return secret
}

const mask = ({ secret }: NonNullable<Auth>): string => `[${secret}]`
