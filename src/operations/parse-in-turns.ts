import * as z from 'zod'
import { yieldTurns } from '../base/yield-turns.ts'

/** A list up to this length is parsed at once. */
const shortList = 20

/** Parses an output, the items of a long list one by one, so that other requests get their turns. */
export async function parseInTurns<Output extends z.ZodType>(
  schema: Output,
  value: unknown,
): Promise<z.output<Output>> {
  const long = longListsOf(schema, value)
  if (long.length === 0) return schema.parse(value)
  const emptied = Object.fromEntries(long.map(({ name }) => [name, []]))
  const parsed = schema.parse({ ...(value as object), ...emptied }) as Record<string, unknown>
  const turn = yieldTurns()
  for (const { name, items, item } of long) {
    const list: unknown[] = []
    for (const each of items) {
      list.push(item.parse(each))
      await turn()
    }
    parsed[name] = list
  }
  return parsed as z.output<Output>
}

function longListsOf(schema: z.ZodType, value: unknown) {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, items]) => {
    const list: unknown = schema.shape[name]
    // A check on the whole array needs all of it.
    if (!Array.isArray(items) || items.length <= shortList || !(list instanceof z.ZodArray)) return []
    return (list.def.checks ?? []).length > 0 ? [] : [{ name, items, item: list.element as z.ZodType }]
  })
}
