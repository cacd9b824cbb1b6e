import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** The decompressors of content encodings; null for a body that is not compressed. */
export const decompressors: Readonly<Record<string, (() => Transform) | null>> = {
  identity: null,
  '': null,
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
}
