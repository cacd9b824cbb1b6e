// The driver writes at once what has this many bytes, and gathers what is shorter.
const gatheredBytes = 1024
const protocolVersion = 3 << 16

/**
 * The URL with so long a startup message that the driver writes it at once. A shorter one it may gather for ever: when a line is
 * lost while something is gathered for it, the driver forgets to write that, and waits on the next line as if it still would.
 */
export function padStartup(url: string): string {
  const at = url.indexOf('?')
  const query = new URLSearchParams(url.slice(at + 1))
  // The server skips spaces between options.
  query.set('options', `${query.get('options') ?? ''}${' '.repeat(gatheredBytes)}`)
  return `${url.slice(0, at)}?${query}`
}

/** The startup message without what the driver had gathered for the line before; anything else as it is. */
export function cutToStartup(chunk: Uint8Array): Uint8Array {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  for (let at = 0; at + 8 <= chunk.length; at++)
    if (view.getInt32(at) === chunk.length - at && view.getInt32(at + 4) === protocolVersion) return chunk.subarray(at)
  return chunk
}
