import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import type { Deadline } from '../network/deadline.ts'

/** Reads an answer to its end, unpacked; one that is larger than allowed is cut off where that shows. */
export async function readResponseBody(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  deadline: Deadline,
): Promise<string> {
  const encoding = String(response.headers['content-encoding'] ?? 'identity').toLowerCase()
  const unpack = unpackers[encoding]
  if (unpack === undefined) {
    response.body.destroy()
    throw new TooldexError(
      'HTTP_ERROR',
      `The answer is packed in a way that nobody asked for (${encoding.slice(0, 40)}).`,
    )
  }
  if (unpack === null && Number(response.headers['content-length'] ?? Number.NaN) <= maxBytes)
    return whole(response, deadline)
  const source: Readable = response.body
  const stream = unpack === null ? source : source.pipe(unpack())
  // A pipe does not pass on what goes wrong before it.
  if (stream !== source) source.on('error', (error) => stream.destroy(error))
  try {
    return await collect(stream, maxBytes)
  } catch (error) {
    if (error instanceof TooldexError || deadline.aborted) throw error
    throw brokeOff(error)
  } finally {
    source.destroy()
    stream.destroy()
  }
}

/** A small answer whose length is known needs no counting; the connection itself lets no more through. */
function whole({ body }: Dispatcher.ResponseData, deadline: Deadline): Promise<string> {
  return body.text().catch((error) => {
    if (deadline.aborted) throw error
    throw brokeOff(error)
  })
}

const brokeOff = (cause: unknown): TooldexError =>
  new TooldexError('HTTP_ERROR', 'The answer broke off before its end.', { cause })

/** By its events, because iterating over a stream takes longer than a small answer does. */
function collect(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else reject(new TooldexError('OUTPUT_LIMIT', `The answer is larger than ${maxBytes} bytes.`))
    })
    stream.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    stream.once('error', reject)
    stream.once('close', () => reject(new Error('closed')))
  })
}

const unpackers: Readonly<Record<string, (() => Transform) | null>> = {
  identity: null,
  '': null,
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
}
