import type * as z from 'zod'

const maxRounds = 5
// Each round copies or reads the whole value; for a larger one only problems of shape are reported.
const maxNodes = 10_000

/**
 * The data without the parts that a schema rejects, so that the rest can be validated too: invalid values are removed,
 * and required ones replaced by placeholders. Undefined if that is not enough.
 */
export function dropInvalid<T>(
  schema: z.ZodType<T>,
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
): T | undefined {
  if (!isSmall(value)) return undefined
  const cleaned = structuredClone(value)
  let wrong = issues
  for (let round = 0; round < maxRounds; round++) {
    for (const issue of wrong) {
      if (issue.code === 'unrecognized_keys') removeKeys(cleaned, issue)
      else replace(cleaned, issue.path, round === 0 ? undefined : placeholderFor(issue))
    }
    const parsed = schema.safeParse(cleaned)
    if (parsed.success) return parsed.data
    wrong = parsed.error.issues
  }
  return undefined
}

function placeholderFor(issue: z.core.$ZodIssue): unknown {
  if (issue.code === 'invalid_value') return issue.values[0]
  if (issue.code !== 'invalid_type') return undefined
  // Each string is unique, so that none counts as a duplicate, and is a valid name.
  const text = `__${issue.path.map(String).join('_').toLowerCase()}`
  const values: Record<string, unknown> = { string: text, array: [], object: {}, record: {}, boolean: false, number: 0 }
  return values[issue.expected]
}

function removeKeys(root: unknown, { path, keys }: z.core.$ZodIssueUnrecognizedKeys): void {
  const parent = path.reduce<unknown>((node, part) => (node as Record<PropertyKey, unknown> | undefined)?.[part], root)
  if (typeof parent === 'object' && parent !== null) for (const key of keys) Reflect.deleteProperty(parent, key)
}

function replace(root: unknown, path: readonly PropertyKey[], value: unknown): void {
  const last = path.at(-1)
  let parent = root as Record<PropertyKey, unknown> | undefined
  for (const part of path.slice(0, -1)) parent = parent?.[part] as Record<PropertyKey, unknown> | undefined
  if (typeof parent === 'object' && parent !== null && last !== undefined) parent[last] = value
}

function isSmall(value: unknown): boolean {
  let nodes = 0
  const open: unknown[] = [value]
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (++nodes > maxNodes) return false
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next).slice(0, maxNodes))
  }
  return true
}
