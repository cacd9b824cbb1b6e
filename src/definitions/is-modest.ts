import type { JsonSchema } from '../contract/input-schema.ts'

const most = { depth: 200, parts: 50_000, characters: 1_000_000 }

/** Whether a schema can be sent as it is: not so deep or large that reading it would be a burden. */
export function isWithinLimits(schema: JsonSchema): boolean {
  const waiting: [object, number][] = [[schema, 1]]
  let parts = 0
  let characters = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [part, depth] = next
    for (const [key, value] of Object.entries(part)) {
      parts += 1
      characters += key.length + (typeof value === 'string' ? value.length : 0)
      if (typeof value === 'object' && value !== null) waiting.push([value, depth + 1])
    }
    if (depth > most.depth || parts > most.parts || characters > most.characters) return false
  }
  return true
}
