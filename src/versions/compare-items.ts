import type { JsonObject } from '../base/json-values.ts'
import type { Walk } from './comparison.ts'
import { atItems, type SchemaPath, step, subjectOf } from './schema-path.ts'

/** Compares the items of arrays: those with a fixed position, and the others. */
export function compareItems(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath): void {
  const [was, is] = [positionsOf(before), positionsOf(after)]
  for (let index = 0; index < Math.max(was.length, is.length); index++) {
    const at = atItems(location, 'prefixItems', String(index))
    walk.compare(was[index] ?? restOf(before), is[index] ?? restOf(after), at)
  }
  if (before.items !== undefined || after.items !== undefined) {
    walk.compare(restOf(before), restOf(after), atItems(location, 'items'))
  }
  if ((before.uniqueItems === true) === (after.uniqueItems === true)) return
  const message = `${subjectOf(location)} ${after.uniqueItems === true ? 'must not' : 'may'} contain duplicate items now`
  walk.report(step(location, 'uniqueItems'), after.uniqueItems === true ? 'narrowed' : 'widened', message)
}

const positionsOf = (node: JsonObject) => (node.prefixItems as readonly unknown[] | undefined) ?? []
const restOf = (node: JsonObject) => node.items ?? true
