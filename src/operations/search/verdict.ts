import type { Fit } from '../../contract/search.ts'
import { fitFor } from '../../search/confidence.ts'

/** The verdict of one hit. */
export const fitOfHit = (score: number): Fit => fitFor(score)

/** The number of nearest tools that are listed if none fits. */
export const maxNearest = 3

const advice =
  'Try other words, search without a query for an overview, or add tools: tooldex add for an MCP server, tooldex import, or a config on the command line.'

/** The verdict of an answer, with the next steps if no tool fits. */
export const verdictOf = (fit: Fit | undefined) => (fit === undefined ? {} : fit === 'none' ? { fit, advice } : { fit })

const order: readonly (Fit | undefined)[] = [undefined, 'none', 'weak', 'good']

/** The better of the verdicts of two catalogs. */
export const betterFit = (first: Fit | undefined, second: Fit | undefined): Fit | undefined =>
  order.indexOf(first) >= order.indexOf(second) ? first : second
