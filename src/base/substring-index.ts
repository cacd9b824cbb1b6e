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
  /** Built with the second query, because one scan of all texts is cheaper. */
  #trigrams: Trigrams | undefined
  #isQueried = false

  constructor(items: readonly Item[], toText: (item: Item) => string) {
    this.#items = items
    this.#texts = items.map(toText)
  }

  /** The first `limit` items, in order, whose text contains `part` and that are accepted. */
  find(part: string, limit: number, accept?: (item: Item) => boolean): Item[] {
    if (this.#isQueried) this.#trigrams ??= buildTrigrams(this.#texts)
    this.#isQueried = true
    const found: Item[] = []
    const { from, to, listed } = this.#candidates(part)
    for (let index = from; index < to; index++) {
      const position = listed === undefined ? index : (listed[index] as number)
      if (!(this.#texts[position] as string).includes(part)) continue
      const item = this.#items[position] as Item
      if (accept !== undefined && !accept(item)) continue
      found.push(item)
      if (found.length >= limit) break
    }
    return found
  }

  /** The texts to scan: those with the rarest trigram, or all for a query without one. */
  #candidates(part: string): { from: number; to: number; listed?: Uint32Array } {
    let [from, to] = [0, this.#items.length]
    const all = { from, to }
    if (this.#trigrams === undefined || part.length < 3) return all
    const { mask, offsets, postings: listed } = this.#trigrams
    for (let index = 0; index + 2 < part.length; index++) {
      const bucket = bucketAt(part, index, mask)
      const [start, end] = [offsets[bucket] as number, offsets[bucket + 1] as number]
      if (end === start) return { from: 0, to: 0 }
      if (end - start < to - from) [from, to] = [start, end]
    }
    return to - from < this.#items.length ? { from, to, listed } : all
  }
}

interface Trigrams {
  readonly mask: number
  readonly offsets: Uint32Array
  readonly postings: Uint32Array
}

function buildTrigrams(texts: readonly string[]): Trigrams {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  const mask = nextPowerOfTwo(Math.min(Math.max(characters / 4, minBuckets), maxBuckets)) - 1
  const offsets = new Uint32Array(mask + 2)
  eachTrigram(texts, mask, (bucket) => increment(offsets, bucket + 1))
  for (let bucket = 1; bucket < offsets.length; bucket++)
    offsets[bucket] = (offsets[bucket] as number) + (offsets[bucket - 1] as number)
  const postings = new Uint32Array(offsets[offsets.length - 1] as number)
  const next = offsets.slice()
  eachTrigram(texts, mask, (bucket, text) => {
    postings[increment(next, bucket)] = text
  })
  return { mask, offsets, postings }
}

/** Each bucket of each text, once per text. */
function eachTrigram(texts: readonly string[], mask: number, visit: (bucket: number, text: number) => void): void {
  const lastSeen = new Int32Array(mask + 1).fill(-1)
  for (const [position, text] of texts.entries()) {
    for (let index = 0; index + 2 < text.length; index++) {
      const bucket = bucketAt(text, index, mask)
      if (lastSeen[bucket] === position) continue
      lastSeen[bucket] = position
      visit(bucket, position)
    }
  }
}

function bucketAt(text: string, index: number, mask: number): number {
  const first = Math.imul(text.charCodeAt(index), 0x9e3779b1)
  const second = Math.imul(text.charCodeAt(index + 1), 0x85ebca6b)
  const hash = Math.imul(first ^ second ^ Math.imul(text.charCodeAt(index + 2), 0xc2b2ae35), 0x27d4eb2f)
  return (hash ^ (hash >>> 15)) & mask
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
