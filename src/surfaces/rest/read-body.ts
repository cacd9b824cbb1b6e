import { pipeline, Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import { readJson } from '../../base/check-json-text.ts'
import { TooldexError } from '../../base/errors.ts'

/** How much a request may bring. */
export interface BodyLimits {
  readonly bytes: number
  readonly depth: number
}

/** The JSON of a request, or nothing where it has no body. */
export async function readBody(request: Request, limits: BodyLimits): Promise<unknown> {
  if (request.body === null) return undefined
  const bytes = await readBytes(request, limits.bytes)
  if (bytes.length === 0) return undefined
  if (!isJson(request.headers.get('content-type')))
    throw new TooldexError('MEDIA_TYPE', 'The body must be JSON, and say so.')
  return parse(decode(bytes), limits)
}

/** What is no JSON at all is another mistake than JSON that does not fit. */
function parse(text: string, { bytes: maxBytes, depth: maxDepth }: BodyLimits): unknown {
  try {
    return readJson(text, { maxBytes, maxDepth })
  } catch (error) {
    if (!(error instanceof TooldexError)) throw error
    const { message, problems, hint } = error
    throw new TooldexError('BODY_INVALID', message, { problems, hint })
  }
}

/** Only what says that it is JSON: a form of another site cannot say that without being asked first. */
const isJson = (type: string | null): boolean => /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type ?? '')

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new TooldexError('BODY_INVALID', 'The body is not valid UTF-8.')
  }
}

/** Stops as soon as it is too much, counted after unpacking. */
async function readBytes(request: Request, most: number): Promise<Uint8Array> {
  const said = Number(request.headers.get('content-length') ?? 0)
  if (said > most) throw tooLarge(most)
  const raw = Readable.fromWeb(request.body as ReadableStream)
  const stream = unpacked(raw, request.headers.get('content-encoding'))
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of stream) {
      size += part.length
      if (size > most) throw tooLarge(most)
      parts.push(part)
    }
  } catch (error) {
    raw.destroy()
    if (error instanceof TooldexError) throw error
    throw new TooldexError('BODY_INVALID', 'The body could not be read to its end.')
  }
  return Buffer.concat(parts)
}

function unpacked(raw: Readable, encoding: string | null): Readable {
  const named = (encoding ?? 'identity').trim().toLowerCase()
  if (named === 'identity' || named === '') return raw
  if (named !== 'gzip' && named !== 'x-gzip')
    throw new TooldexError('MEDIA_TYPE', `The encoding '${named.slice(0, 40)}' is not understood.`)
  // Whoever reads the unpacked end is told of both: a caller that went away would otherwise be nobody's error.
  return pipeline(raw, createGunzip(), () => {})
}

const tooLarge = (most: number): TooldexError =>
  new TooldexError('TOO_LARGE', `The body is larger than ${Math.round(most / 1024)} KiB.`)
