/** Memory of a WebAssembly instance. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

const page = 65_536

/** A new instance of a module with its own memory. */
export function instantiate<Exports>(base64: string): Exports {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WasmConstructors }).WebAssembly
  return new Instance(new Module(Buffer.from(base64, 'base64'))).exports as Exports
}

/** Grows memory to at least this size. */
export function growMemory(memory: WasmMemory, bytes: number): void {
  const missing = Math.ceil((bytes - memory.buffer.byteLength) / page)
  if (missing > 0) memory.grow(missing)
}

/** The used part of WebAssembly; its types otherwise require those of the browser. */
interface WasmConstructors {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}
