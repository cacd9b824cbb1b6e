// dot-products.wat, compiled; a test compiles it again and compares.
const binary =
  'AGFzbQEAAAABCQFgBX9/f39/AAMCAQAFAwEAAQcQAgZtZW1vcnkCAANkb3QAAAr+AQH7AQIDfwN7IAIgA0ECdGohBQJAA0AgAiAFTw0B/QwAAAAAAAAAAAAAAAAAAAAAIQj9DAAAAAAAAAAAAAAAAAAAAAAhCSAAIQcgASAEaiEGA0AgAf0ABAAhCiAIIAr9hwEgB/0ABAD9ugH9rgEhCCAJIAr9iAEgB/0ABBD9ugH9rgEhCSAB/QAEECEKIAggCv2HASAH/QAEIP26Af2uASEIIAkgCv2IASAH/QAEMP26Af2uASEJIAdBwABqIQcgAUEgaiEBIAEgBkkNAAsgCCAJ/a4BIQggAiAI/RsAIAj9GwFqIAj9GwIgCP0bA2pqNgIAIAJBBGohAgwACwsL'

/** Multiplies one vector with many, in memory of its own that can grow. Whole numbers only, so every machine gets the same. */
export interface DotProducts {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  dot(query: number, rows: number, out: number, count: number, dim: number): void
}

/** A fresh instance: its memory belongs to whoever made it. */
export function createDotProducts(): DotProducts {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WasmConstructors }).WebAssembly
  return new Instance(new Module(Buffer.from(binary, 'base64'))).exports
}

/** The part of WebAssembly used here; its types otherwise come with the browser's. */
interface WasmConstructors {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: DotProducts }
}

/** The compiled module, for the test that compares it with its source. */
export const compiledDotProducts = (): Buffer => Buffer.from(binary, 'base64')
