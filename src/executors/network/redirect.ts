import { TooldexError } from '../../base/errors.ts'

/** The maximum number of redirects of one request. */
export const maxRedirects = 5

// Headers without information about the caller: any other header may contain a credential.
const safe = new Set(['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'cache-control', 'user-agent'])

/** The headers that may follow a redirect to another origin. */
export const safeHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => safe.has(name.toLowerCase())))

/** Whether a redirect repeats the request with its method and body. */
export const keepsMethod = (status: number): boolean => status === 307 || status === 308

/** The URL that a response redirects to; a URL that is less safe than the request is rejected. */
export function redirectTarget(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href))
    throw redirectRefused(`${from.host} redirected the request to an invalid URL.`)
  const to = new URL(location, from)
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw redirectRefused(`${from.host} redirected the request to ${to.protocol}`)
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw redirectRefused(`${from.host} redirected the request to a URL that is not encrypted.`)
  if (to.username !== '' || to.password !== '')
    throw redirectRefused(`${from.host} redirected the request to a URL with a password in it.`)
  return to
}

/** The error for a redirect that would send the body of a request to another host. */
export const bodyRefused = (from: URL, to: URL): TooldexError =>
  redirectRefused(`${from.host} redirected the request to ${to.host}, which must not receive its body.`)

/** The error for too many redirects. */
export const loopRefused = (from: URL): TooldexError =>
  redirectRefused(`${from.host} redirected the request more than ${maxRedirects} times.`)

const redirectRefused = (message: string): TooldexError =>
  new TooldexError('ADDRESS_REFUSED', message, { hint: 'Use the target of the redirect as the URL.' })
