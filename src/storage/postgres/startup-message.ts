// The driver writes at once from this many bytes, and buffers shorter messages.
const bufferedBytes = 1024
const protocolVersion = 3 << 16

/**
 * Pads the startup message of a URL so that the driver writes it at once. It may buffer a shorter one forever: when a connection is
 * lost while something is buffered for it, the driver never writes that, and waits on the next connection as if it would.
 */
export function padStartup(url: string): string {
  const at = url.indexOf('?')
  const query = new URLSearchParams(url.slice(at + 1))
  // The server skips spaces between options.
  query.set('options', `${query.get('options') ?? ''}${' '.repeat(bufferedBytes)}`)
  return `${url.slice(0, at)}?${query}`
}

/** Removes data that the driver had buffered for the previous connection before the startup message; returns other chunks unchanged. */
export function cutToStartup(chunk: Uint8Array): Uint8Array {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  for (let at = 0; at + 8 <= chunk.length; at++)
    if (view.getInt32(at) === chunk.length - at && view.getInt32(at + 4) === protocolVersion) return chunk.subarray(at)
  return chunk
}
