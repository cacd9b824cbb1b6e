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
  for (const { path, left, right, keys } of pairsOf(before, after, sameJson)) {
    if (found.length >= maxFindings) break
    const sides = { ...(left === undefined ? {} : { before: left }), ...(right === undefined ? {} : { after: right }) }
    if (keys === undefined) found.push({ pointer: toPointer(path), ...sides })
  }
  return found
}

/** The objects of both values whose common keys are in another order, with the new order. */
export function findReorderedKeys(before: unknown, after: unknown, maxFindings: number): readonly KeyOrder[] {
  const found: KeyOrder[] = []
  for (const { path, left, right, keys } of pairsOf(before, after, sameOrderedJson)) {
    if (found.length >= maxFindings) break
    if (keys === undefined) continue
    const [was, is] = [commonKeys(left, right), commonKeys(right, left)]
    if (was.some((key, index) => is[index] !== key)) found.push({ pointer: toPointer(path), keys: is })
  }
  return found
}

interface ValuePair {
  readonly path: readonly string[]
  readonly left: unknown
  readonly right: unknown
  /** The keys of both sides if both are arrays or both are objects. */
  readonly keys?: readonly string[] | undefined
}

/** The values of both sides that differ, level by level. */
function* pairsOf(left: unknown, right: unknown, isSame: (left: unknown, right: unknown) => boolean) {
  const open: ValuePair[] = [{ path: [], left, right }]
  // The array grows during the loop.
  for (const pair of open) {
    if (isSame(pair.left, pair.right)) continue
    const keys = pair.path.length > maxDepth ? undefined : sharedKeys(pair.left, pair.right)
    yield { ...pair, keys }
    for (const key of keys ?? [])
      open.push({ path: [...pair.path, key], left: at(pair.left, key), right: at(pair.right, key) })
  }
}

/** An object whose keys are in another order now. */
export interface KeyOrder {
  readonly pointer: string
  readonly keys: readonly string[]
}

const commonKeys = (of: unknown, other: unknown): readonly string[] =>
  Object.keys(of as object).filter((key) => Object.hasOwn(other as object, key))

const maxDepth = 50

function sharedKeys(left: unknown, right: unknown): readonly string[] | undefined {
  const lists = Array.isArray(left) && Array.isArray(right)
  if (!lists && !(isObject(left) && isObject(right))) return undefined
  return [...new Set([...Object.keys(left as object), ...Object.keys(right as object)])]
}

const at = (value: unknown, key: string): unknown =>
  Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined
