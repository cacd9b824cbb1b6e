import { TooldexError } from '../../base/errors.ts'
import type { ResolveSecret } from '../../contract/secret.ts'
import type { HttpConfig } from './check-config.ts'

type Auth = HttpConfig['auth']

/** The header that says who a request is from; the secret in it is asked for now, and kept nowhere. */
export async function authHeader(auth: Auth, resolve: ResolveSecret | undefined): Promise<Record<string, string>> {
  if (auth === undefined) return {}
  if (resolve === undefined) throw new TooldexError('SECRET_UNAVAILABLE', 'There are no secrets here.')
  const secret = await resolve(auth.secret)
  if (/[\0\r\n]/.test(secret)) throw new TooldexError('SECRET_UNAVAILABLE', 'The secret has a line break in it.')
  return { [nameOf(auth)]: headerOf(auth, secret) }
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
