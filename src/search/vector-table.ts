import { createDotProducts } from './dot-products.ts'

const page = 65_536
const step = 32

/**
 * Unit vectors of 8-bit numbers, one for each tool, and their cosines with a query.
 *
 *   memory: [ query, 16-bit | rows, 8-bit ... | answers, 32-bit ... ]
 */
export class VectorTable {
  readonly #dim: number
  readonly #kernel = createDotProducts()
  readonly #rowsAt: number
  #capacity = 0
  #used = 0

  /** Rows are filled up with zeros to what the scan takes in one step. */
  constructor(dim: number) {
    this.#dim = Math.ceil(dim / step) * step
    this.#rowsAt = this.#dim * 2
  }

  /** Puts a vector at a position; a vector of zeros takes it out. */
  set(position: number, vector: Float32Array | undefined): void {
    if (position >= this.#capacity) this.#grow(position + 1)
    this.#used = Math.max(this.#used, position + 1)
    const row = new Int8Array(this.#kernel.memory.buffer, this.#rowsAt + position * this.#dim, this.#dim)
    row.fill(0)
    for (const [column, value] of vector?.entries() ?? []) row[column] = Math.round(value * 127)
  }

  /** The products of all rows with a query, as whole numbers on one scale; valid until the next call. */
  products(query: Float32Array): Int32Array {
    const words = new Int16Array(this.#kernel.memory.buffer, 0, this.#dim)
    for (let column = 0; column < this.#dim; column++)
      words[column] = Math.round((query[column] as number) * queryScale)
    this.#kernel.dot(0, this.#rowsAt, this.#answersAt, this.#used, this.#dim)
    return new Int32Array(this.#kernel.memory.buffer, this.#answersAt, this.#used)
  }

  get #answersAt(): number {
    return this.#rowsAt + this.#capacity * this.#dim
  }

  #grow(least: number): void {
    this.#capacity = Math.max(least, this.#capacity * 2, 64)
    const wanted = this.#answersAt + this.#capacity * 4
    const missing = Math.ceil((wanted - this.#kernel.memory.buffer.byteLength) / page)
    if (missing > 0) this.#kernel.memory.grow(missing)
  }
}

const queryScale = 8192

/** What a product of `products` is as a cosine. */
export const toCosine = (product: number): number => product / (queryScale * 127)
