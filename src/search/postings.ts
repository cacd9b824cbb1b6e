/** The tools that have a term, and how much of it: two columns that grow together. */
export interface PostingList {
  readonly positions: Uint32Array
  readonly weights: Float32Array
  readonly size: number
}

const empty: PostingList = { positions: new Uint32Array(0), weights: new Float32Array(0), size: 0 }
// Weights are multiples of a half well below this, so a position and a weight fit into one number.
const packing = 2 ** 12

class GrowingList implements PostingList {
  positions = new Uint32Array(4)
  weights = new Float32Array(4)
  size = 0

  add(position: number, weight: number): void {
    if (this.size === this.positions.length) this.#grow()
    this.positions[this.size] = position
    this.weights[this.size++] = weight
  }

  /** The order within a list means nothing, so the last one takes the place of the one that goes. */
  remove(position: number): void {
    const index = this.positions.subarray(0, this.size).indexOf(position)
    if (index < 0) return
    this.size--
    this.positions[index] = this.positions[this.size] as number
    this.weights[index] = this.weights[this.size] as number
  }

  #grow(): void {
    const [positions, weights] = [new Uint32Array(this.size * 2), new Float32Array(this.size * 2)]
    positions.set(this.positions)
    weights.set(this.weights)
    this.positions = positions
    this.weights = weights
  }
}

/** Posting lists by key. Most keys occur in one tool only; those are kept as one number each instead of a list. */
export class PostingTable {
  readonly #lists = new Map<number, GrowingList>()
  readonly #single = new Map<number, number>()

  add(key: number, position: number, weight: number): void {
    const list = this.#lists.get(key)
    if (list !== undefined) {
      list.add(position, weight)
      return
    }
    const one = this.#single.get(key)
    if (one === undefined && weight * 2 < packing) {
      this.#single.set(key, position * packing + weight * 2)
      return
    }
    const grown = new GrowingList()
    if (one !== undefined) grown.add(Math.floor(one / packing), (one % packing) / 2)
    grown.add(position, weight)
    this.#single.delete(key)
    this.#lists.set(key, grown)
  }

  remove(key: number, position: number): void {
    const list = this.#lists.get(key)
    if (list === undefined) {
      const one = this.#single.get(key)
      if (one !== undefined && Math.floor(one / packing) === position) this.#single.delete(key)
      return
    }
    list.remove(position)
    if (list.size === 0) this.#lists.delete(key)
  }

  get(key: number): PostingList {
    const list = this.#lists.get(key)
    if (list !== undefined) return list
    const one = this.#single.get(key)
    if (one === undefined) return empty
    return {
      positions: Uint32Array.of(Math.floor(one / packing)),
      weights: Float32Array.of((one % packing) / 2),
      size: 1,
    }
  }

  sizeOf(key: number): number {
    return this.#lists.get(key)?.size ?? (this.#single.has(key) ? 1 : 0)
  }

  weightOf(key: number, position: number): number {
    const { positions, weights, size } = this.get(key)
    const index = positions.subarray(0, size).indexOf(position)
    return index < 0 ? 0 : (weights[index] as number)
  }
}
