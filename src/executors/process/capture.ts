import type { Readable } from 'node:stream'

/** What was kept of a stream. */
export interface Captured {
  readonly text: string
  /** All bytes seen, kept or not. */
  readonly bytes: number
  readonly cut: boolean
}

/** Keeps the first `most` bytes of a stream and counts the rest, so that memory stays flat whatever is printed. */
export class Capture {
  readonly #chunks: Buffer[] = []
  readonly #most: number
  #kept = 0
  bytes = 0

  constructor(stream: Readable, most: number, onData: () => void, onKept?: (part: Buffer) => void) {
    this.#most = most
    stream.on('data', (chunk: Buffer) => {
      const kept = this.#keep(chunk)
      if (kept !== undefined) onKept?.(kept)
      onData()
    })
    // A pipe can break while its process is being killed; the exit tells what happened.
    stream.on('error', () => {})
  }

  #keep(chunk: Buffer): Buffer | undefined {
    this.bytes += chunk.length
    const room = this.#most - this.#kept
    if (room <= 0) return undefined
    // Copied where cut, so that the tail of a large chunk is not held in memory.
    const part = chunk.length <= room ? chunk : Buffer.from(chunk.subarray(0, room))
    this.#chunks.push(part)
    this.#kept += part.length
    return part
  }

  /** The kept bytes as UTF-8; what is not UTF-8 becomes U+FFFD, a character cut in two at the limit is left out. */
  end(): Captured {
    const bytes = Buffer.concat(this.#chunks)
    const cut = this.bytes > this.#kept
    return { text: (cut ? bytes.subarray(0, wholeCharacters(bytes)) : bytes).toString('utf8'), bytes: this.bytes, cut }
  }
}

/** How many bytes there are up to the last complete character. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
