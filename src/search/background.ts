import type { Embedder } from './encoder.ts'
import { toCosine, type VectorTable } from './vector-table.ts'

/** Everyday requests of many subjects; what they find in a catalog by chance shows how near any request is to one of its tools. */
const backgroundRequests: readonly string[] = [
  'find a recipe with the vegetables in my fridge',
  'show the weather forecast for the weekend',
  'what is the fastest route to the airport',
  'translate this sentence into Spanish',
  'play some relaxing music',
  'calculate the area of a triangle',
  'book a table for two at an Italian restaurant',
  'generate a secure password',
  'get the current price of a stock',
  'summarize a long document',
  'count the rows of a database table',
  'plan a training schedule for a marathon',
  'turn off the lights in the kitchen',
  'solve a quadratic equation',
  'restart the server',
  'add a contact to the address book',
  'read the text in a scanned page',
  'compare two insurance offers',
  'merge two branches',
  'extract the names of people from an article',
  'how many calories does a banana have',
  'schedule a meeting with the sales department',
  'apply for a loan',
  'simulate the motion of a pendulum',
]

interface Nearest {
  readonly query: Float32Array
  product: number
  /** The tool with the product; -1 for none. */
  position: number
  isKnown: boolean
}

/**
 * How near unrelated requests are to the tools of a catalog: the mean of the cosines to the nearest tool. It depends on the tools
 * only, and not on the order in which they were added.
 */
export class Background {
  readonly #nearest: readonly Nearest[]

  constructor(embedder: Embedder) {
    this.#nearest = backgroundRequests.flatMap((text) => {
      const query = embedder.embedQuery(text)?.slice()
      return query === undefined ? [] : [{ query, product: 0, position: -1, isKnown: false }]
    })
  }

  /** A tool was added. */
  add(position: number, table: VectorTable): void {
    for (const each of this.#nearest) {
      if (!each.isKnown) continue
      const { product } = table.highest(each.query, position, position + 1)
      if (product > each.product) Object.assign(each, { product, position })
    }
  }

  remove(position: number): void {
    for (const each of this.#nearest) if (each.position === position) each.isKnown = false
  }

  /** Changes the last products of the table. */
  mean(table: VectorTable): number {
    let sum = 0
    for (const each of this.#nearest) {
      if (!each.isKnown) Object.assign(each, table.highest(each.query), { isKnown: true })
      sum += toCosine(each.product)
    }
    return this.#nearest.length === 0 ? 0 : sum / this.#nearest.length
  }
}
