const errorResponse = 'E'.charCodeAt(0)

/** The error of a server that rejects or ends a connection. */
interface ServerError {
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

// The driver writes at once from this many bytes, and buffers shorter messages.
const bufferedBytes = 1024
const protocolVersion = 3 << 16

/**
 * Pads the startup message of a URL so that the driver writes it at once. It may buffer a shorter one forever: when a connection is
 * lost while something is buffered for it, the driver never writes that, and waits on the next connection as if it would.
 */
export function padStartup(url: string): string {
  const at = url.indexOf('?')
  const query = new URLSearchParams(url.slice(at + 1))
  // The server skips spaces between options.
  query.set('options', `${query.get('options') ?? ''}${' '.repeat(bufferedBytes)}`)
  return `${url.slice(0, at)}?${query}`
}

/** Removes data that the driver had buffered for the previous connection before the startup message; returns other chunks unchanged. */
export function cutToStartup(chunk: Uint8Array): Uint8Array {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  for (let at = 0; at + 8 <= chunk.length; at++)
    if (view.getInt32(at) === chunk.length - at && view.getInt32(at + 4) === protocolVersion) return chunk.subarray(at)
  return chunk
}
