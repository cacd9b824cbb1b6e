/** A word near another one, with the cosine of their vectors. */
export interface NearWord {
  readonly word: string
  readonly cosine: number
}

/** The nearest words of each word of an encoder, computed beforehand. */
export class Thesaurus {
  /** One word per line, and the start of each. */
  readonly #words: Buffer
  #starts: Uint32Array | undefined
  /** For each word the end of its neighbors, their numbers and their cosines. */
  readonly #ends: Uint32Array
  readonly #rows: Uint16Array
  readonly #cosines: Uint8Array

  /** Reads the next bytes of a file, in the order of the fields. */
  constructor(words: Uint8Array, size: { words: number; near: number }, fill: (bytes: Uint8Array) => void) {
    this.#words = Buffer.from(words.buffer, words.byteOffset, words.byteLength)
    const read = <T extends Uint8Array | Uint16Array | Uint32Array>(array: T): T => {
      fill(new Uint8Array(array.buffer))
      return array
    }
    this.#ends = read(new Uint32Array(size.words))
    this.#rows = read(new Uint16Array(size.near))
    this.#cosines = read(new Uint8Array(size.near))
  }

  /** The neighbors of a word by its number; none for -1. */
  near(number: number): readonly NearWord[] {
    const [start, end] = [this.#ends[number - 1] ?? 0, this.#ends[number] ?? 0]
    return Array.from(this.#rows.subarray(start, end), (other, at) => ({
      word: this.#wordOf(other),
      cosine: (this.#cosines[start + at] as number) / 255,
    }))
  }

  #wordOf(number: number): string {
    this.#starts ??= startsOf(this.#words)
    const next = this.#starts[number + 1] ?? this.#words.length + 1
    return this.#words.toString('utf8', this.#starts[number], next - 1)
  }
}

function startsOf(words: Buffer): Uint32Array {
  const starts = [0]
  for (let at = words.indexOf(newline); at >= 0; at = words.indexOf(newline, at + 1)) starts.push(at + 1)
  return Uint32Array.from(starts)
}

const newline = 10
