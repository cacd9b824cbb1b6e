/** Memory that WebAssembly code works in. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

const page = 65_536

/** A fresh instance of a module: its memory belongs to whoever made it. */
export function instantiate<Exports>(base64: string): Exports {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WasmConstructors }).WebAssembly
  return new Instance(new Module(Buffer.from(base64, 'base64'))).exports as Exports
}

/** Makes memory at least as large as this. */
export function growMemory(memory: WasmMemory, bytes: number): void {
  const missing = Math.ceil((bytes - memory.buffer.byteLength) / page)
  if (missing > 0) memory.grow(missing)
}

/** The part of WebAssembly used here; its types otherwise come with the browser's. */
interface WasmConstructors {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}
