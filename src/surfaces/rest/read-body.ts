import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { TooldexError } from '../../base/errors.ts'
import { readJsonInTurns } from '../../json-schema/offload/json-work.ts'
import type { BodyLimits } from '../../operations/operation.ts'

type SizeLimit = Omit<BodyLimits, 'depth' | 'values'>

// An oversized body is read up to this size, so that the client receives the response.
const maxDiscarded = 64 * 1024 * 1024

/** Reads the JSON body of a request; undefined without a body. */
export async function readRequestBody(request: Request, limits: BodyLimits): Promise<unknown> {
  if (declaredLength(request) === undefined && request.body === null) return undefined
  const bytes = await readBytes(request, limits)
  if (bytes.length === 0) return undefined
  if (!isJson(request.headers.get('content-type')))
    throw new TooldexError('MEDIA_TYPE', 'The body must be JSON with the content type application/json.')
  return parse(bytes, limits)
}

/** Distinguishes invalid JSON from JSON that exceeds the limits. */
async function parse(
  bytes: Uint8Array<ArrayBuffer>,
  { bytes: maxBytes, depth: maxDepth, values: maxValues, hint: sizeHint }: BodyLimits,
): Promise<unknown> {
  try {
    return await readJsonInTurns(bytes, { maxBytes, maxDepth, maxValues })
  } catch (error) {
    if (!(error instanceof TooldexError)) throw error
    if (error.code === 'TOO_LARGE') throw new TooldexError('TOO_LARGE', error.message, { hint: sizeHint ?? error.hint })
    const { message, problems, hint } = error
    throw new TooldexError('BODY_INVALID', message, { problems, hint })
  }
}

/** Requires a JSON content type, which a form of another site cannot send without a CORS preflight. */
const isJson = (type: string | null): boolean => /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type ?? '')

/** Never buffers more than the limit, which applies to the decompressed body. */
async function readBytes(request: Request, limit: SizeLimit): Promise<Uint8Array<ArrayBuffer>> {
  const packed = isPacked(request.headers.get('content-encoding'))
  const length = declaredLength(request)
  if (length !== undefined && length > limit.bytes) throw tooLarge(limit)
  const bytes = length === undefined ? await collect(request, limit) : await readAll(request)
  return packed ? unpack(bytes, limit) : bytes
}

/** The length of the body by its header, which the HTTP parser of the server enforces. */
function declaredLength(request: Request): number | undefined {
  const text = request.headers.get('content-length')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

/** Reads a body of bounded length without a stream, which costs more than the rest of a short request. */
async function readAll(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await request.arrayBuffer())
  } catch {
    throw unreadable()
  }
}

const unreadable = (): TooldexError => new TooldexError('BODY_INVALID', 'The body could not be read to its end.')

async function collect(request: Request, limit: SizeLimit): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of request.body ?? []) {
      size += part.length
      if (size <= limit.bytes) parts.push(part)
      else parts.length = 0
      if (size > maxDiscarded) break
    }
  } catch {
    throw unreadable()
  }
  if (size > limit.bytes) throw tooLarge(limit)
  return Buffer.concat(parts)
}

/** Reads an unused body to its end: a client that is still sending would otherwise lose the response. */
export async function discardBody(request: Request): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD' || request.bodyUsed || request.body === null) return
  await collect(request, { bytes: 0 }).catch(() => {})
}

function isPacked(encoding: string | null): boolean {
  const named = (encoding ?? 'identity').trim().toLowerCase()
  if (named === 'gzip' || named === 'x-gzip') return true
  if (named === 'identity' || named === '') return false
  throw new TooldexError('MEDIA_TYPE', `The encoding '${named.slice(0, 40)}' is not supported.`)
}

async function unpack(bytes: Uint8Array<ArrayBuffer>, limit: SizeLimit): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: limit.bytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit)
    throw new TooldexError('BODY_INVALID', 'The body is not valid gzip.')
  }
}

const tooLarge = ({ bytes, hint }: SizeLimit): TooldexError =>
  new TooldexError(
    'TOO_LARGE',
    `The body is larger than ${Math.round(bytes / 1024)} KiB.`,
    hint === undefined ? {} : { hint },
  )
