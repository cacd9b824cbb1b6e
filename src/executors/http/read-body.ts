import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import type { Deadline } from '../network/deadline.ts'

/** Reads and decompresses a response; throws as soon as it exceeds `maxBytes`. */
export async function readResponseBody(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  deadline: Deadline,
): Promise<string> {
  const encoding = String(response.headers['content-encoding'] ?? 'identity').toLowerCase()
  const decompress = decompressors[encoding]
  if (decompress === undefined) {
    response.body.destroy()
    throw new TooldexError('HTTP_ERROR', `The response has an unsupported content encoding (${encoding.slice(0, 40)}).`)
  }
  if (decompress === null && Number(response.headers['content-length'] ?? Number.NaN) <= maxBytes)
    return readKnownLength(response, deadline)
  const source: Readable = response.body
  const stream = decompress === null ? source : source.pipe(decompress())
  // A pipe does not propagate the errors of its source.
  if (stream !== source) source.on('error', (error) => stream.destroy(error))
  try {
    return await collect(stream, maxBytes)
  } catch (error) {
    if (error instanceof TooldexError || deadline.aborted) throw error
    throw endedEarly(error)
  } finally {
    source.destroy()
    stream.destroy()
  }
}

/** A response with a known length needs no counting: the client enforces the length. */
function readKnownLength({ body }: Dispatcher.ResponseData, deadline: Deadline): Promise<string> {
  return body.text().catch((error) => {
    if (deadline.aborted) throw error
    throw endedEarly(error)
  })
}

const endedEarly = (cause: unknown): TooldexError =>
  new TooldexError('HTTP_ERROR', 'The response ended prematurely.', { cause })

/** Uses events, because iterating over a stream takes longer than a small response does. */
function collect(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else reject(new TooldexError('OUTPUT_LIMIT', `The response is larger than ${maxBytes} bytes.`))
    })
    stream.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    stream.once('error', reject)
    stream.once('close', () => reject(new Error('closed')))
  })
}

const decompressors: Readonly<Record<string, (() => Transform) | null>> = {
  identity: null,
  '': null,
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
}
