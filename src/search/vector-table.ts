import { scanBinary } from './kernels.ts'
import { growMemory, instantiate, type WasmMemory } from './wasm.ts'

/** kernels/scan.ts. */
interface Kernel {
  readonly memory: WasmMemory
  dot(query: number, rows: number, out: number, count: number, dim: number): void
  highest(queries: number, rows: number, first: number, end: number, dim: number, best: number): void
  fuse(scores: number, products: number, count: number, mean: number, weight: number, far: number): void
  sumOfLast(): number
  squaresOfLast(): number
}

const step = 32
// Queries that a row is compared with at once, and rows in one call: a kernel becomes faster between its calls.
const [queriesAtOnce, rowsAtOnce] = [4, 512]

/** The highest product with a query, and the position of its row; -1 for none. */
export interface Highest {
  readonly product: number
  readonly position: number
}

/**
 * Unit vectors of 8-bit numbers, one for each tool, and their cosines with a query.
 *
 *   memory: [ queries, 16-bit | highest products and their rows, 32-bit | rows, 8-bit ... | answers, 32-bit ... | scores, 64-bit ... ]
 */
export class VectorTable {
  readonly #dim: number
  readonly #kernel = instantiate<Kernel>(scanBinary)
  readonly #bestAt: number
  readonly #rowsAt: number
  /** The size of a vector; a row may be longer. */
  readonly #columns: number
  #rows = new Int8Array(0)
  /** The rows with a vector, and their number. */
  #isSet = new Uint8Array(0)
  #count = 0
  #capacity = 0
  #used = 0
  /** Rows that are compared with each other are copied here side by side, so that they can be scanned as well. */
  #chosen: VectorTable | undefined

  /** Rows are padded with zeros to the step size of the scan. */
  constructor(dim: number) {
    this.#columns = dim
    this.#dim = Math.ceil(dim / step) * step
    this.#bestAt = queriesAtOnce * this.#dim * 2
    this.#rowsAt = this.#bestAt + queriesAtOnce * 8
    this.#grow(64)
  }

  /** Stores a vector at a position; undefined removes it. */
  set(position: number, vector: Float32Array | undefined): void {
    this.reserve(position + 1)
    this.#note(position, vector !== undefined)
    const [rows, start] = [this.#rows, position * this.#dim]
    if (vector === undefined) rows.fill(0, start, start + this.#dim)
    else
      for (let column = 0; column < vector.length; column++)
        rows[start + column] = rounded((vector[column] as number) * 127)
  }

  /** Stores vectors in row format at consecutive positions. */
  setRows(first: number, rows: Int8Array): void {
    const count = rows.length / this.#columns
    this.reserve(first + count)
    for (let index = 0; index < count; index++) {
      const start = index * this.#columns
      if (this.#columns !== this.#dim)
        this.#rows.set(rows.subarray(start, start + this.#columns), (first + index) * this.#dim)
      this.#note(first + index, hasAny(rows, start, start + this.#columns))
    }
    if (this.#columns === this.#dim) this.#rows.set(rows, first * this.#dim)
  }

  /** Allocates this many positions. */
  reserve(count: number): void {
    if (count > this.#capacity) this.#grow(count)
    this.#used = Math.max(this.#used, count)
  }

  /** The number of positions with a vector. */
  get count(): number {
    return this.#count
  }

  /** The products of all rows with a query, as integers on one scale; valid until the next call. */
  products(query: Float32Array): Int32Array {
    this.#putQuery(0, query)
    return this.#scan()
  }

  /** The highest product of the rows of a range with each of some queries; those of `products` stay. */
  highest(queries: readonly Float32Array[], first = 0, end = this.#used): readonly Highest[] {
    const found: Highest[] = []
    const best = new Int32Array(this.#kernel.memory.buffer, this.#bestAt, queriesAtOnce * 2)
    for (let start = 0; start < queries.length; start += queriesAtOnce) {
      const asked = queries.slice(start, start + queriesAtOnce)
      for (const [index, query] of asked.entries()) this.#putQuery(index, query)
      best.fill(0, 0, queriesAtOnce).fill(-1, queriesAtOnce)
      for (let row = first; row < end; row += rowsAtOnce)
        this.#kernel.highest(0, this.#rowsAt, row, Math.min(row + rowsAtOnce, end), this.#dim, this.#bestAt)
      for (const index of asked.keys())
        found.push({ product: best[index] as number, position: best[queriesAtOnce + index] as number })
    }
    return found
  }

  /** The products of some rows with a query, on the scale of `products`, without changing those. */
  productsAt(positions: readonly number[], query: Float32Array): readonly number[] {
    const [rows, dim] = [this.#rows, this.#dim]
    return positions.map((position) => {
      let sum = 0
      for (let column = 0, at = position * dim; column < query.length; column++, at++)
        sum += (query[column] as number) * (rows[at] as number)
      return sum * queryScale
    })
  }

  /** Adds the cosines of some rows with each other, at least zero, row by row, times a share. */
  compareEach(positions: readonly number[], share: number, matrix: Float64Array): void {
    this.#chosen ??= new VectorTable(this.#dim)
    this.#chosen.#replaceRows(
      positions.map((position) => this.#rows.subarray(position * this.#dim, (position + 1) * this.#dim)),
    )
    for (let row = 0; row < positions.length; row++) {
      const products = this.#chosen.#productsOf(row)
      const start = row * positions.length
      for (let column = 0; column < products.length; column++)
        matrix[start + column] =
          (matrix[start + column] as number) + (share * Math.max(products[column] as number, 0)) / 127 ** 2
    }
  }

  /** Replaces all rows. */
  #replaceRows(rows: readonly Int8Array[]): void {
    if (rows.length > this.#capacity) this.#grow(rows.length)
    for (const [position, row] of rows.entries()) this.#rows.set(row, position * this.#dim)
    this.#used = rows.length
  }

  #productsOf(row: number): Int32Array {
    const query = this.#rows.subarray(row * this.#dim, (row + 1) * this.#dim)
    new Int16Array(this.#kernel.memory.buffer, 0, this.#dim).set(query)
    return this.#scan()
  }

  /** The scores plus the weighted last products above the mean; a score of zero must exceed `far`. */
  fuse(scores: Float64Array, { mean, weight, far }: { mean: number; weight: number; far: number }): Float64Array {
    const count = Math.min(this.#used, scores.length)
    const fused = new Float64Array(this.#kernel.memory.buffer, this.#scoresAt, scores.length)
    fused.set(scores)
    this.#kernel.fuse(this.#scoresAt, this.#answersAt, count, mean, weight, far)
    return fused
  }

  /** The sums of the last products and of their squares. */
  sums(): { readonly sum: number; readonly squares: number } {
    return { sum: this.#kernel.sumOfLast(), squares: this.#kernel.squaresOfLast() }
  }

  #putQuery(index: number, query: Float32Array): void {
    const words = new Int16Array(this.#kernel.memory.buffer, index * this.#dim * 2, this.#dim)
    for (let column = 0; column < this.#dim; column++)
      words[column] = Math.round((query[column] as number) * queryScale)
  }

  #scan(): Int32Array {
    this.#kernel.dot(0, this.#rowsAt, this.#answersAt, this.#used, this.#dim)
    return new Int32Array(this.#kernel.memory.buffer, this.#answersAt, this.#used)
  }

  get #answersAt(): number {
    return this.#rowsAt + this.#capacity * this.#dim
  }

  get #scoresAt(): number {
    return this.#answersAt + this.#capacity * 4
  }

  #note(position: number, isSet: boolean): void {
    this.#count += Number(isSet) - (this.#isSet[position] as number)
    this.#isSet[position] = Number(isSet)
  }

  #grow(minCapacity: number): void {
    const isSet = this.#isSet
    this.#capacity = Math.ceil(Math.max(minCapacity, this.#capacity * 2) / step) * step
    growMemory(this.#kernel.memory, this.#scoresAt + this.#capacity * 8)
    this.#rows = new Int8Array(this.#kernel.memory.buffer, this.#rowsAt, this.#capacity * this.#dim)
    this.#isSet = new Uint8Array(this.#capacity)
    this.#isSet.set(isSet)
  }
}

function hasAny(cells: Int8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (cells[index] !== 0) return true
  return false
}

const queryScale = 8192
const rounded = (value: number): number => ((value + 128.5) | 0) - 128

/** Converts a product of `products` to a cosine. */
export const toCosine = (product: number): number => product / (queryScale * 127)
