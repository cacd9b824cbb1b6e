import { TooldexError } from '../../base/errors.ts'
import type { RunControls } from '../../contract/executor.ts'
import type { Auth, HttpConfig } from './check-config.ts'

/** The secrets of a request, which only the first host receives. */
export interface RequestSecrets {
  readonly headers: Readonly<Record<string, string>>
  /** Parameters of the query, added when the request is sent. */
  readonly query: Readonly<Record<string, string>>
}

export const noSecrets: RequestSecrets = { headers: {}, query: {} }

/** Resolves the secrets of a request for each run; they are never stored. */
export async function resolveSecrets(
  auth: HttpConfig['auth'],
  { secret: resolve, hide }: Pick<RunControls, 'secret' | 'hide'>,
): Promise<RequestSecrets> {
  const resolved: [Auth, string][] = []
  for (const each of credentialsIn(auth)) {
    if (resolve === undefined)
      throw new TooldexError('SECRET_UNAVAILABLE', 'The tool needs a secret, but secrets are not available here.')
    const secret = await resolve(each.secret)
    if (/[\0\r\n]/.test(secret))
      throw new TooldexError(
        'SECRET_UNAVAILABLE',
        'The secret contains a line break or a NUL byte, which a header cannot contain.',
      )
    const value = credentialOf(each, secret)
    // A service that echoes the request returns the secret in this form.
    hide?.(each.secret, value.replace(/^\w+ /, ''))
    resolved.push([each, value])
  }
  return place(resolved)
}

/** The same with the secrets masked, for a dry run. */
export const maskedSecrets = (auth: HttpConfig['auth']): RequestSecrets =>
  place(credentialsIn(auth).map((each) => [each, masked(each)]))

export const credentialsIn = (auth: HttpConfig['auth']): readonly Auth[] => (auth === undefined ? [] : [auth].flat())

function credentialOf(auth: Auth, secret: string): string {
  if (auth.type === 'bearer') return `Bearer ${secret}`
  if (auth.type !== 'basic') return secret
  const credentials = auth.username === undefined ? secret : `${auth.username}:${secret}`
  return `Basic ${Buffer.from(credentials).toString('base64')}`
}

function masked(auth: Auth): string {
  const mask = `[${auth.secret}]`
  return auth.type === 'bearer' || auth.type === 'basic' ? `${auth.type} ${mask}` : mask
}

function place(values: readonly (readonly [Auth, string])[]): RequestSecrets {
  const headers: Record<string, string> = {}
  const query: Record<string, string> = {}
  for (const [auth, value] of values) {
    if (auth.type === 'query') query[auth.name] = value
    else if (auth.type === 'header') headers[auth.name.toLowerCase()] = value
    else if (auth.type === 'cookie')
      headers.cookie = [headers.cookie, `${auth.name}=${value}`].filter((each) => each !== undefined).join('; ')
    else headers.authorization = value
  }
  return { headers, query }
}
