import * as z from 'zod'
import { registryLimits } from '../../contract/registry.ts'

/** The id or name of a tool; `name@3` where a version is allowed. */
export const IdOrName = z.string().min(1).max(200)

/** The input of every list. */
export const paging = {
  limit: z.int().min(1).max(100).default(20).describe('Maximum number of results.'),
  cursor: z.string().max(2000).optional().describe('Cursor of the next page.'),
}

/** One page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().optional(), total: z.int().optional() })

/** The description of a change. */
export const Changelog = z.string().max(registryLimits.changelog).describe('Description of the change.')

/** The reason of a decision. */
export const DecisionNote = z.string().max(2000).describe('Reason of the decision.')

/** The number of a version, limited by the integer of the database. */
export const VersionNumber = z.int().min(1).max(2_147_483_647)

/** The base of a change: a version, or ETags as in If-Match. */
export const ExpectedVersion = z.union([VersionNumber, z.string()]).describe('Fail unless it still has this version.')
