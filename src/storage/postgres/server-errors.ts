const errorResponse = 'E'.charCodeAt(0)

/** What a server says when it does not serve, or no longer. */
export interface ServerError {
  readonly code: string
  readonly message: string
}

/** Why the server does not let us in, where that is what it says; messages are a letter, a length and a body each. */
export function findServerError(chunk: Buffer): ServerError | undefined {
  for (let at = 0; at + 5 <= chunk.length; ) {
    const end = at + 1 + chunk.readUInt32BE(at + 1)
    if (end <= at + 4) return undefined
    if (chunk[at] === errorResponse) return readFields(chunk.subarray(at + 5, end))
    at = end
  }
  return undefined
}

/** Why the server ends a connection that served, where a chunk says just that. */
export function readTermination(chunk: Buffer): ServerError | undefined {
  if (chunk[0] !== errorResponse || chunk.length < 5 || chunk.readUInt32BE(1) !== chunk.length - 1) return undefined
  const { severity, ...refusal } = readFields(chunk.subarray(5))
  return severity === 'FATAL' || severity === 'PANIC' ? refusal : undefined
}

function readFields(body: Buffer): ServerError & { readonly severity?: string | undefined } {
  const fields = body.toString('utf8').split('\0')
  const find = (letter: string) => fields.find((field) => field.startsWith(letter))?.slice(1)
  return {
    severity: find('V'),
    code: find('C') ?? '08004',
    message: find('M') ?? 'the server refused the connection',
  }
}
