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
  detail: 'This is no HTTP request.',
  hint: 'Send HTTP/1.1.',
}
const rows: Readonly<Record<string, PlainRow>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'TOO_LARGE',
    detail: 'The head of the request is too large.',
    hint: 'Send less in the address and in headers.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'EXECUTION_TIMEOUT',
    detail: 'The request did not come to its end in time.',
    hint: 'Send it faster.',
  },
}

/** A whole answer as text, for a request that is none: there is nothing yet that could answer it otherwise. */
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
