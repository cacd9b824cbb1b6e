import { isObject, sameJson, sameOrderedJson } from '../base/json-values.ts'
import { toPointer } from '../base/problem.ts'

/** One difference between two JSON values; `before` or `after` is absent if that side has no value there. */
export interface JsonDifference {
  readonly pointer: string
  readonly before?: unknown
  readonly after?: unknown
}

/** The first differences between two JSON values, as deep as both have the same type. */
export function diffJson(before: unknown, after: unknown, maxFindings: number): readonly JsonDifference[] {
  const found: JsonDifference[] = []
  const open: { path: readonly string[]; left: unknown; right: unknown }[] = [{ path: [], left: before, right: after }]
  // The array grows during the loop.
  for (const { path, left, right } of open) {
    if (found.length >= maxFindings) break
    if (sameJson(left, right)) continue
    const keys = sharedKeys(left, right)
    if (keys === undefined || path.length > maxDepth) {
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

/** The objects of both values whose common keys are in another order, with the new order. */
export function findReordered(before: unknown, after: unknown, maxFindings: number): readonly KeyOrder[] {
  const found: KeyOrder[] = []
  const open: { path: readonly string[]; left: unknown; right: unknown }[] = [{ path: [], left: before, right: after }]
  for (const { path, left, right } of open) {
    if (found.length >= maxFindings) break
    const keys = sharedKeys(left, right)
    if (keys === undefined || path.length > maxDepth || sameOrderedJson(left, right)) continue
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

const maxDepth = 50

/** The keys of both sides if both are arrays or both are objects. */
function sharedKeys(left: unknown, right: unknown): readonly string[] | undefined {
  const lists = Array.isArray(left) && Array.isArray(right)
  if (!lists && !(isObject(left) && isObject(right))) return undefined
  return [...new Set([...Object.keys(left as object), ...Object.keys(right as object)])]
}

const at = (value: unknown, key: string): unknown =>
  Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined
