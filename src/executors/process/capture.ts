import type { Readable } from 'node:stream'

/** The captured part of a stream. */
export interface Captured {
  readonly text: string
  /** The total number of bytes, captured or not. */
  readonly bytes: number
  readonly cut: boolean
}

/** Captures the first `maxBytes` bytes of a stream and counts the rest, so that memory use is bounded. */
export class Capture {
  readonly #chunks: Buffer[] = []
  readonly #maxBytes: number
  #captured = 0
  bytes = 0

  constructor(stream: Readable, maxBytes: number, onData: () => void, onCaptured?: (part: Buffer) => void) {
    this.#maxBytes = maxBytes
    stream.on('data', (chunk: Buffer) => {
      const captured = this.#keep(chunk)
      if (captured !== undefined) onCaptured?.(captured)
      onData()
    })
    // A pipe can break while its process is being killed; the exit status has the reason.
    stream.on('error', () => {})
  }

  #keep(chunk: Buffer): Buffer | undefined {
    this.bytes += chunk.length
    const room = this.#maxBytes - this.#captured
    if (room <= 0) return undefined
    // Copied where cut, so that the tail of a large chunk does not stay in memory.
    const part = chunk.length <= room ? chunk : Buffer.from(chunk.subarray(0, room))
    this.#chunks.push(part)
    this.#captured += part.length
    return part
  }

  /** The captured bytes as UTF-8; invalid bytes become U+FFFD, and a character that the limit splits is left out. */
  end(): Captured {
    const bytes = Buffer.concat(this.#chunks)
    const cut = this.bytes > this.#captured
    return { text: (cut ? bytes.subarray(0, wholeCharacters(bytes)) : bytes).toString('utf8'), bytes: this.bytes, cut }
  }
}

/** The number of bytes up to the last complete character. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
