import { existsSync } from 'node:fs'
import { encoderFile } from '../../base/package-info.ts'
import { type Embedder, loadEncoder } from '../../search/encoder.ts'

/** Returns the encoder of the package, loaded on first use; undefined if it is not installed. */
export function lazyBundledEncoder(): () => Embedder | undefined {
  let loaded: { readonly embedder: Embedder | undefined } | undefined
  return () => {
    loaded ??= { embedder: existsSync(encoderFile) ? loadEncoder(encoderFile) : undefined }
    return loaded.embedder
  }
}
