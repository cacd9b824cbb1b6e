import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Embedder, loadEncoder } from '../../search/encoder.ts'

const file = fileURLToPath(new URL('../../../model/encoder.bin', import.meta.url))

/** Gives the encoder of the package, read when first asked for; undefined where it was not installed. */
export function lazyEncoder(): () => Embedder | undefined {
  let loaded: { readonly embedder: Embedder | undefined } | undefined
  return () => {
    loaded ??= { embedder: existsSync(file) ? loadEncoder(file) : undefined }
    return loaded.embedder
  }
}
