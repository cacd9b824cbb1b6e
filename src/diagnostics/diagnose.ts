import type * as z from 'zod'
import { fromPointer, toPointer } from '../base/problem.ts'
import type { Finding } from './finding.ts'
import { describeShapeProblems, type ShapeOptions } from './shape-problems.ts'
import { describedParse } from './zod-issues.ts'

/** The further parts of a value that cannot be checked if the part at a path is invalid. */
export type Dependents = (path: readonly string[]) => readonly (readonly string[])[]

/** The shape of a value, and the dependencies between its parts. */
export interface Shape<T> extends ShapeOptions {
  readonly schema: z.ZodType<T>
  readonly dependents?: Dependents | undefined
}

/** A value with all of its problems. */
export interface Diagnosis<T> {
  /** The value without its invalid parts; undefined if nothing usable is left. */
  readonly value: T | undefined
  readonly findings: readonly Finding[]
  /** JSON pointers to the parts with an invalid shape. */
  readonly wrong: readonly string[]
}

/** Collects the problems of a value: those of its shape, and those that a check finds in the parts with a valid shape. */
export function diagnose<T>(
  input: unknown,
  shape: Shape<T>,
  check: (value: T) => readonly Finding[] = () => [],
): Diagnosis<T> {
  const { schema, dependents } = shape
  const parsed = schema.safeParse(input, describedParse)
  if (parsed.success) return { value: parsed.data, findings: check(parsed.data), wrong: [] }
  const { issues } = parsed.error
  const invalid = issues.flatMap((issue) => describeShapeProblems(schema, issue, shape))
  const wrong = invalid.map(({ path }) => toPointer(path))
  const value = dropInvalidParts(schema, input, issues)
  const isIndependent = independentOfInvalid(wrong, dependents)
  const found = value === undefined ? [] : check(value).filter(({ path }) => isIndependent(toPointer(path)))
  return { value, findings: [...invalid, ...found], wrong }
}

/** Tests whether a problem at a JSON pointer does not follow from invalid parts. */
export function independentOfInvalid(wrong: readonly string[], dependents: Dependents = () => []) {
  const invalid = new Set(wrong.flatMap((pointer) => [pointer, ...dependents(fromPointer(pointer)).map(toPointer)]))
  return (pointer = ''): boolean => {
    const parts = pointer.split('/')
    return !parts.some((_, index) => invalid.has(parts.slice(0, index + 1).join('/')))
  }
}

const maxRounds = 5
// Each round copies or reads the whole value; for a larger one only problems of shape are reported.
const maxNodes = 10_000

/**
 * The data without the parts that a schema rejects, so that the rest can be validated too: invalid values are removed,
 * and required ones replaced by placeholders. Undefined if that is not enough.
 */
export function dropInvalidParts<T>(
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
