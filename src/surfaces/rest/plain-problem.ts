import { STATUS_CODES } from 'node:http'

interface PlainRow {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly hint: string
}

const unreadable: PlainRow = {
  status: 400,
  code: 'BODY_INVALID',
  detail: 'The request is not valid HTTP.',
  hint: 'Send an HTTP/1.1 request.',
}
const rows: Readonly<Record<string, PlainRow>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'TOO_LARGE',
    detail: 'The request line and headers are too large.',
    hint: 'Shorten the URL and the headers.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'EXECUTION_TIMEOUT',
    detail: 'The request was not complete in time.',
    hint: 'Send it faster.',
  },
}

/** A complete HTTP response as text, for requests that the HTTP parser rejects. */
export function plainProblem(reason: string | undefined): string {
  const { status, code, detail, hint } = rows[reason ?? ''] ?? unreadable
  const title = STATUS_CODES[status] ?? ''
  const type = `urn:tooldex:error:${code}`
  const body = JSON.stringify({ type, title, status, detail, code, hint, retryable: false, errors: [], requestId: '' })
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
