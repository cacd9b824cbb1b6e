const errorResponse = 'E'.charCodeAt(0)

/** The error of a server that rejects or ends a connection. */
export interface ServerError {
  readonly code: string
  readonly message: string
}

const firstMessages = new Set(['R', 'E', 'N', 'v'].map((type) => type.charCodeAt(0)))

/** Whether the first byte of a connection is the type of a message that PostgreSQL begins with. */
export const beginsLikePostgres = (chunk: Buffer): boolean => firstMessages.has(chunk[0] ?? 0)

/** The error of a rejected connection, where a chunk contains one; each message has a type byte, a length and a body. */
export function findServerError(chunk: Buffer): ServerError | undefined {
  for (let at = 0; at + 5 <= chunk.length; ) {
    const end = at + 1 + chunk.readUInt32BE(at + 1)
    if (end <= at + 4) return undefined
    if (chunk[at] === errorResponse) return readFields(chunk.subarray(at + 5, end))
    at = end
  }
  return undefined
}

/** The error that ends an established connection, where a chunk consists of one. */
export function readTermination(chunk: Buffer): ServerError | undefined {
  if (chunk[0] !== errorResponse || chunk.length < 5 || chunk.readUInt32BE(1) !== chunk.length - 1) return undefined
  const { severity, ...refusal } = readFields(chunk.subarray(5))
  return severity === 'FATAL' || severity === 'PANIC' ? refusal : undefined
}

function readFields(body: Buffer): ServerError & { readonly severity?: string | undefined } {
  const fields = body.toString('utf8').split('\0')
  const find = (type: string) => fields.find((field) => field.startsWith(type))?.slice(1)
  return {
    severity: find('V'),
    code: find('C') ?? '08004',
    message: find('M') ?? 'the server rejected the connection',
  }
}
