import * as z from 'zod'
import { registryLimits } from '../../contract/registry.ts'

/** A tool by its id or its name; `name@3` where a version may be meant. */
export const IdOrName = z.string().min(1).max(200)

/** What every list takes. */
export const paging = {
  limit: z.int().min(1).max(100).default(20),
  cursor: z.string().max(2000).optional(),
}

/** One page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().optional(), total: z.int().optional() })

/** What is said about a change. */
export const Changelog = z.string().max(registryLimits.changelog)

/** The number of a version; the database counts no further. */
export const VersionNumber = z.int().min(1).max(2_147_483_647)

/** What a change is made on: a version, or tags as If-Match writes them. */
export const ExpectedVersion = z
  .union([VersionNumber, z.string()])
  .describe('The version or ETag that the change is based on. Over HTTP: the header If-Match.')
