import { toPointer } from '../base/problem.ts'
import { isObject, sameJson, sameOrderedJson } from '../base/same-json.ts'

/** One place in which two JSON values differ; a side that has nothing there is absent. */
export interface JsonDifference {
  readonly pointer: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Where two JSON values differ, the first of them; as deep as both have the same shape. */
export function diffJson(before: unknown, after: unknown, most: number): readonly JsonDifference[] {
  const found: JsonDifference[] = []
  const open: { path: readonly string[]; left: unknown; right: unknown }[] = [{ path: [], left: before, right: after }]
  // A list grows while it is gone through.
  for (const { path, left, right } of open) {
    if (found.length >= most) break
    if (sameJson(left, right)) continue
    const keys = sharedKeys(left, right)
    if (keys === undefined || path.length > deepest) {
      found.push({
        pointer: toPointer(path),
        ...(left === undefined ? {} : { before: left }),
        ...(right === undefined ? {} : { after: right }),
      })
      continue
    }
    for (const key of keys) open.push({ path: [...path, key], left: at(left, key), right: at(right, key) })
  }
  return found
}

/** Where objects that both values have are written in another order, and that order; keys of one side only do not count. */
export function findReordered(before: unknown, after: unknown, most: number): readonly KeyOrder[] {
  const found: KeyOrder[] = []
  const open: { path: readonly string[]; left: unknown; right: unknown }[] = [{ path: [], left: before, right: after }]
  for (const { path, left, right } of open) {
    if (found.length >= most) break
    const keys = sharedKeys(left, right)
    if (keys === undefined || path.length > deepest || sameOrderedJson(left, right)) continue
    const [was, is] = [commonKeys(left, right), commonKeys(right, left)]
    if (was.some((key, index) => is[index] !== key)) found.push({ pointer: toPointer(path), keys: is })
    for (const key of was) open.push({ path: [...path, key], left: at(left, key), right: at(right, key) })
  }
  return found
}

/** An object whose keys are in another order now. */
export interface KeyOrder {
  readonly pointer: string
  readonly keys: readonly string[]
}

const commonKeys = (of: unknown, other: unknown): readonly string[] =>
  Object.keys(of as object).filter((key) => Object.hasOwn(other as object, key))

const deepest = 50

/** The keys to go on with where both sides are lists, or both are objects. */
function sharedKeys(left: unknown, right: unknown): readonly string[] | undefined {
  const lists = Array.isArray(left) && Array.isArray(right)
  if (!lists && !(isObject(left) && isObject(right))) return undefined
  return [...new Set([...Object.keys(left as object), ...Object.keys(right as object)])]
}

const at = (value: unknown, key: string): unknown =>
  Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined
