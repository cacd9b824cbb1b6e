// Every trigram of a text hashes to one of these buckets; a bucket lists the texts that contain it.
// A query can only match texts with all its trigrams, so only the list of the rarest one is scanned:
//
//   "commit" -> com omm mmi mit        offsets[mmi] .. offsets[mmi + 1] in postings = the texts to check
const minBuckets = 1 << 8
const maxBuckets = 1 << 16

/** Finds the items whose text contains a string, in order, without scanning the others. */
export class SubstringIndex<Item> {
  readonly #items: readonly Item[]
  readonly #texts: readonly string[]
  readonly #mask: number
  readonly #offsets: Uint32Array
  readonly #postings: Uint32Array

  constructor(items: readonly Item[], toText: (item: Item) => string) {
    const texts = items.map(toText)
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    this.#items = items
    this.#texts = texts
    this.#mask = nextPowerOfTwo(Math.min(Math.max(characters / 4, minBuckets), maxBuckets)) - 1
    const counts = new Uint32Array(this.#mask + 2)
    this.#eachTriple((bucket) => increment(counts, bucket + 1))
    for (let bucket = 1; bucket < counts.length; bucket++) {
      counts[bucket] = (counts[bucket] as number) + (counts[bucket - 1] as number)
    }
    this.#offsets = counts
    this.#postings = new Uint32Array(counts[counts.length - 1] as number)
    const next = counts.slice()
    this.#eachTriple((bucket, text) => {
      this.#postings[increment(next, bucket)] = text
    })
  }

  /** The first `limit` items, in order, whose text contains `part` and that are accepted. */
  find(part: string, limit: number, accept?: (item: Item) => boolean): Item[] {
    const found: Item[] = []
    const range = this.#candidates(part)
    if (range === undefined) return found
    const [from, to] = range
    const listed = to - from < this.#items.length
    for (let index = from; index < to; index++) {
      const position = listed ? (this.#postings[index] as number) : index - from
      if (!(this.#texts[position] as string).includes(part)) continue
      const item = this.#items[position] as Item
      if (accept !== undefined && !accept(item)) continue
      found.push(item)
      if (found.length >= limit) break
    }
    return found
  }

  /** The postings to scan: those of the rarest trigram, or all texts for a query without one. */
  #candidates(part: string): readonly [number, number] | undefined {
    let [from, to] = [0, this.#items.length]
    for (let index = 0; index + 2 < part.length; index++) {
      const bucket = this.#bucketAt(part, index)
      const start = this.#offsets[bucket] as number
      const end = this.#offsets[bucket + 1] as number
      if (end === start) return undefined
      if (end - start < to - from) [from, to] = [start, end]
    }
    return [from, to]
  }

  /** Each bucket of each text, once per text. */
  #eachTriple(visit: (bucket: number, text: number) => void): void {
    const lastSeen = new Int32Array(this.#mask + 1).fill(-1)
    for (const [position, text] of this.#texts.entries()) {
      for (let index = 0; index + 2 < text.length; index++) {
        const bucket = this.#bucketAt(text, index)
        if (lastSeen[bucket] === position) continue
        lastSeen[bucket] = position
        visit(bucket, position)
      }
    }
  }

  #bucketAt(text: string, index: number): number {
    const first = Math.imul(text.charCodeAt(index), 0x9e3779b1)
    const second = Math.imul(text.charCodeAt(index + 1), 0x85ebca6b)
    const hash = Math.imul(first ^ second ^ Math.imul(text.charCodeAt(index + 2), 0xc2b2ae35), 0x27d4eb2f)
    return (hash ^ (hash >>> 15)) & this.#mask
  }
}

/** Increments a cell and returns its previous value. */
function increment(cells: Uint32Array, index: number): number {
  const before = cells[index] as number
  cells[index] = before + 1
  return before
}

function nextPowerOfTwo(atLeast: number): number {
  return 2 ** Math.ceil(Math.log2(atLeast))
}
