import { isObject, type JsonObject } from '../../../base/json-values.ts'
import { fromPointer } from '../../../base/problem.ts'
import { checkSchema } from '../../../json-schema/index.ts'

const maxRounds = 20

/** A schema without its invalid keywords, and a sentence for each of them; undefined if it cannot be made valid. */
export function withoutInvalid(schema: JsonObject): { schema: JsonObject; losses: readonly string[] } | undefined {
  const copy = structuredClone(schema) as Record<string, unknown>
  const losses: string[] = []
  for (let round = 0; round < maxRounds; round++) {
    const problems = checkSchema(copy, '', { object: true })
    if (problems.length === 0) return { schema: copy, losses: losses.slice(0, maxRounds) }
    const removed = problems.filter(({ pointer = '' }) => remove(copy, fromPointer(pointer)))
    if (removed.length === 0) return undefined
    losses.push(...removed.map(({ pointer = '', message }) => `${pointer} is left out: ${message}`))
  }
  return undefined
}

/** Removes the keyword at a path, or the nearest one above it; whether there was one. */
function remove(schema: Record<string, unknown>, path: readonly string[]): boolean {
  for (let length = path.length; length > 0; length--) {
    let holder: unknown = schema
    for (const part of path.slice(0, length - 1)) holder = isObject(holder) ? holder[part] : undefined
    const key = path[length - 1] ?? ''
    if (!isObject(holder) || !Object.hasOwn(holder, key)) continue
    delete (holder as Record<string, unknown>)[key]
    return true
  }
  return false
}
