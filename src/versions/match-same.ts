import type { Walk } from './comparison.ts'
import { type SchemaPath, step } from './schema-path.ts'

type Members = readonly unknown[]

/** The members of two arrays without an equivalent in the other; equivalent pairs are compared for wording only. */
export function matchSame(
  walk: Walk,
  [before, after]: readonly [Members, Members],
  location: SchemaPath,
): [Members, Members] {
  const left: unknown[] = []
  const free = new Map(after.entries())
  for (const member of before) {
    const found = [...free].find(([, other]) => walk.same({ before: member, after: other, location }))
    if (found === undefined) left.push(member)
    else {
      free.delete(found[0])
      walk.compare(member, found[1], step(location, `${found[0]}`))
    }
  }
  return [left, [...free.values()]]
}
