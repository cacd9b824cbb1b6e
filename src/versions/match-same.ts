import type { Walk } from './comparison.ts'
import { type SchemaPath, step } from './schema-path.ts'

type Members = readonly unknown[]

/** The members of two lists that have none of the same meaning in the other; of the others only their words are told. */
export function matchSame(
  walk: Walk,
  [before, after]: readonly [Members, Members],
  place: SchemaPath,
): [Members, Members] {
  const left: unknown[] = []
  const free = new Map(after.entries())
  for (const member of before) {
    const found = [...free].find(([, other]) => walk.same({ before: member, after: other, place }))
    if (found === undefined) left.push(member)
    else {
      free.delete(found[0])
      walk.compare(member, found[1], step(place, `${found[0]}`))
    }
  }
  return [left, [...free.values()]]
}
