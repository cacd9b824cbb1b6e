import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { TooldexError } from '../../base/errors.ts'
import { readJsonInTurns } from '../../json-schema/offload/json-work.ts'

/** How much a request may bring. */
export interface BodyLimits {
  readonly bytes: number
  readonly depth: number
  /** Objects, arrays and single values. */
  readonly values: number
  /** What to do about more. */
  readonly hint?: string | undefined
}

type Most = Omit<BodyLimits, 'depth' | 'values'>

// What is too much is read all the same, up to here, so that the answer arrives.
const maxDiscarded = 64 * 1024 * 1024

/** The JSON of a request, or nothing where it has no body. */
export async function readRequestBody(request: Request, limits: BodyLimits): Promise<unknown> {
  if (request.body === null) return undefined
  const bytes = await readBytes(request, limits)
  if (bytes.length === 0) return undefined
  if (!isJson(request.headers.get('content-type')))
    throw new TooldexError('MEDIA_TYPE', 'The body must be JSON, and say so.')
  return parse(bytes, limits)
}

/** What is no JSON at all is another mistake than JSON that does not fit. */
async function parse(
  bytes: Uint8Array<ArrayBuffer>,
  { bytes: maxBytes, depth: maxDepth, values: maxValues, hint: smaller }: BodyLimits,
): Promise<unknown> {
  try {
    return await readJsonInTurns(bytes, { maxBytes, maxDepth, maxValues })
  } catch (error) {
    if (!(error instanceof TooldexError)) throw error
    if (error.code === 'TOO_LARGE') throw new TooldexError('TOO_LARGE', error.message, { hint: smaller ?? error.hint })
    const { message, problems, hint } = error
    throw new TooldexError('BODY_INVALID', message, { problems, hint })
  }
}

/** Only what says that it is JSON: a form of another site cannot say that without being asked first. */
const isJson = (type: string | null): boolean => /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type ?? '')

/** Never keeps more than is allowed, counted after unpacking. */
async function readBytes(request: Request, most: Most): Promise<Uint8Array<ArrayBuffer>> {
  const packed = isPacked(request.headers.get('content-encoding'))
  if (Number(request.headers.get('content-length') ?? 0) > most.bytes) throw tooLarge(most)
  const bytes = await collect(request, most)
  return packed ? unpack(bytes, most) : bytes
}

async function collect(request: Request, most: Most): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of request.body ?? []) {
      size += part.length
      if (size <= most.bytes) parts.push(part)
      else parts.length = 0
      if (size > maxDiscarded) break
    }
  } catch {
    throw new TooldexError('BODY_INVALID', 'The body could not be read to its end.')
  }
  if (size > most.bytes) throw tooLarge(most)
  return Buffer.concat(parts)
}

/** Reads what nobody wanted: a caller that still sends when it is answered would lose the answer with the connection. */
export async function discardBody(request: Request): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD' || request.bodyUsed || request.body === null) return
  await collect(request, { bytes: 0 }).catch(() => {})
}

function isPacked(encoding: string | null): boolean {
  const named = (encoding ?? 'identity').trim().toLowerCase()
  if (named === 'gzip' || named === 'x-gzip') return true
  if (named === 'identity' || named === '') return false
  throw new TooldexError('MEDIA_TYPE', `The encoding '${named.slice(0, 40)}' is not understood.`)
}

async function unpack(bytes: Uint8Array<ArrayBuffer>, most: Most): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: most.bytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(most)
    throw new TooldexError('BODY_INVALID', 'The body cannot be unpacked.')
  }
}

const tooLarge = ({ bytes, hint }: Most): TooldexError =>
  new TooldexError(
    'TOO_LARGE',
    `The body is larger than ${Math.round(bytes / 1024)} KiB.`,
    hint === undefined ? {} : { hint },
  )
