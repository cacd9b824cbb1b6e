import { errorTable, toErrorBody, toTooldexError } from '../../base/errors.ts'

/** Converts an error to an RFC 9457 response. */
export function problemResponse(
  thrown: unknown,
  requestId: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const error = toTooldexError(thrown)
  const { http: status } = errorTable[error.code]
  const { code, message, hint, retryable, errors, id } = toErrorBody(error)
  const body = {
    type: `urn:tooldex:error:${code}`,
    title: titleOf(code),
    status,
    detail: message,
    code,
    hint,
    retryable,
    errors,
    requestId,
    ...(id === undefined ? {} : { id }),
  }
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', ...more }
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="tooldex"'
  if (status === 429 || status === 503) headers['retry-after'] = String(error.retryAfter ?? 1)
  return new Response(JSON.stringify(body), { status, headers })
}

const titleOf = (code: string): string => {
  const words = code.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
