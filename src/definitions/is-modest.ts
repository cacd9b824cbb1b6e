import type { JsonSchema } from '../contract/input-schema.ts'

const limits = { depth: 200, parts: 50_000, characters: 1_000_000 }

/** Whether a schema is small and flat enough to be sent unchanged. */
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
    if (depth > limits.depth || parts > limits.parts || characters > limits.characters) return false
  }
  return true
}
