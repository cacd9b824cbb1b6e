import { TooldexError } from '../../base/errors.ts'
import type { RunControls } from '../../contract/executor.ts'
import type { HttpConfig } from './check-config.ts'

type Auth = HttpConfig['auth']

/** The header that authenticates a request; its secret is resolved for each request and never stored. */
export async function authHeader(
  auth: Auth,
  { secret: resolve, hide }: Pick<RunControls, 'secret' | 'hide'>,
): Promise<Record<string, string>> {
  if (auth === undefined) return {}
  if (resolve === undefined)
    throw new TooldexError('SECRET_UNAVAILABLE', 'The tool needs a secret, but secrets are not available here.')
  const secret = await resolve(auth.secret)
  if (/[\0\r\n]/.test(secret))
    throw new TooldexError(
      'SECRET_UNAVAILABLE',
      'The secret contains a line break or a NUL byte, which a header cannot contain.',
    )
  const value = headerOf(auth, secret)
  // A service that echoes the request returns the secret in this form.
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
