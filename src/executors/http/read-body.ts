import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { TooldexError } from '../../base/errors.ts'

/** Reads an answer to its end, unpacked; one that is larger than allowed is cut off where that shows. */
export async function readBody(
  response: Dispatcher.ResponseData,
  mostBytes: number,
  signal: AbortSignal,
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
  const source: Readable = response.body
  const stream = unpack === null ? source : source.pipe(unpack())
  // A pipe does not pass on what goes wrong before it.
  if (stream !== source) source.on('error', (error) => stream.destroy(error))
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > mostBytes) throw new TooldexError('OUTPUT_LIMIT', `The answer is larger than ${mostBytes} bytes.`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof TooldexError || signal.aborted) throw error
    throw new TooldexError('HTTP_ERROR', 'The answer broke off before its end.', { cause: error })
  } finally {
    source.destroy()
    stream.destroy()
  }
  return Buffer.concat(chunks).toString('utf8')
}

const unpackers: Readonly<Record<string, (() => Transform) | null>> = {
  identity: null,
  '': null,
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
}
