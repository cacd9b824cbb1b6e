import type * as z from 'zod'

const rounds = 5
// Each round copies or reads the whole value; of a larger one only the shape is reported.
const maxNodes = 10_000

/**
 * The data as it would be without what a schema refuses, so that the rest can be judged too: wrong values are left out,
 * and required ones stand in by something harmless. Undefined when that is not enough.
 */
export function dropInvalid<T>(
  schema: z.ZodType<T>,
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
): T | undefined {
  if (!isSmall(value)) return undefined
  const mended = structuredClone(value)
  let wrong = issues
  for (let round = 0; round < rounds; round++) {
    for (const issue of wrong) {
      if (issue.code === 'unrecognized_keys') leaveOut(mended, issue)
      else replace(mended, issue.path, round === 0 ? undefined : standIn(issue))
    }
    const parsed = schema.safeParse(mended)
    if (parsed.success) return parsed.data
    wrong = parsed.error.issues
  }
  return undefined
}

function standIn(issue: z.core.$ZodIssue): unknown {
  if (issue.code === 'invalid_value') return issue.values[0]
  if (issue.code !== 'invalid_type') return undefined
  // No two texts are alike, so that none is taken for the other; and each would do as a name.
  const text = `__${issue.path.map(String).join('_').toLowerCase()}`
  const values: Record<string, unknown> = { string: text, array: [], object: {}, record: {}, boolean: false, number: 0 }
  return values[issue.expected]
}

function leaveOut(root: unknown, { path, keys }: z.core.$ZodIssueUnrecognizedKeys): void {
  const holder = path.reduce<unknown>((held, part) => (held as Record<PropertyKey, unknown> | undefined)?.[part], root)
  if (typeof holder === 'object' && holder !== null) for (const key of keys) Reflect.deleteProperty(holder, key)
}

function replace(root: unknown, path: readonly PropertyKey[], value: unknown): void {
  const last = path.at(-1)
  let holder = root as Record<PropertyKey, unknown> | undefined
  for (const part of path.slice(0, -1)) holder = holder?.[part] as Record<PropertyKey, unknown> | undefined
  if (typeof holder === 'object' && holder !== null && last !== undefined) holder[last] = value
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
