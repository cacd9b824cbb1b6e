import { existsSync } from 'node:fs'
import { encoderFile } from '../../base/package-info.ts'
import { type Embedder, loadEncoder } from '../../search/encoder.ts'

/** Gives the encoder of the package, read when first asked for; undefined where it was not installed. */
export function lazyEncoder(): () => Embedder | undefined {
  let loaded: { readonly embedder: Embedder | undefined } | undefined
  return () => {
    loaded ??= { embedder: existsSync(encoderFile) ? loadEncoder(encoderFile) : undefined }
    return loaded.embedder
  }
}
