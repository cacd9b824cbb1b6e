/** Whether two JSON values are equal, ignoring the order of keys. */
export const sameJson = (a: unknown, b: unknown): boolean => isSame(a, b, false)

/** Whether two JSON values are equal, with their keys in the same order. */
export const sameOrderedJson = (a: unknown, b: unknown): boolean => isSame(a, b, true)

/** A loop instead of recursion, because values may nest deeper than the stack. */
function isSame(a: unknown, b: unknown, ordered: boolean): boolean {
  const pairs: [unknown, unknown][] = [[a, b]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [left, right] = pair
    if (left === right || (Number.isNaN(left) && Number.isNaN(right))) continue
    const parts = pairParts(left, right, ordered)
    if (parts === undefined) return false
    for (const part of parts) pairs.push(part)
  }
  return true
}

function pairParts(left: unknown, right: unknown, ordered: boolean): [unknown, unknown][] | undefined {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length ? left.map((item, index) => [item, right[index]]) : undefined
  }
  if (!isObject(left) || !isObject(right)) return undefined
  const [keys, others] = [definedKeys(left), definedKeys(right)]
  const differs = (key: string, at: number) => (ordered ? others[at] !== key : !Object.hasOwn(right, key))
  if (keys.length !== others.length || keys.some(differs)) return undefined
  return keys.map((key) => [left[key], right[key]])
}

/** JSON does not write a key whose value is undefined. */
const definedKeys = (value: JsonObject) => Object.keys(value).filter((key) => value[key] !== undefined)

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object; an array is not. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value if it is an array, else an empty array. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The strings in an array; empty for any other value. */
export const textsOf = (value: unknown): string[] => listOf(value).filter((item) => typeof item === 'string')

/** The object without some of its keys. */
export function omitKeys(value: JsonObject, ...keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

/** Freezes plain data recursively, so that sharing it is as safe as copying it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) deepFreeze(part)
  return value
}

/** The object without its undefined fields, so that absent fields are really absent. */
export function omitUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T
}

/** Whether a JSON value has at most this many values and levels; counted level by level, without recursion. */
export function checkJsonSize(
  value: unknown,
  max: { readonly values?: number; readonly levels: number },
): 'fits' | 'many' | 'deep' {
  const { values: maxValues = Number.POSITIVE_INFINITY, levels } = max
  let values = 0
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = []
    for (const each of level) {
      if (++values > maxValues) return 'many'
      if (typeof each !== 'object' || each === null) continue
      if (depth === levels) return 'deep'
      for (const inner of Object.values(each)) next.push(inner)
    }
    level = next
  }
  return 'fits'
}

/** A value with all its texts mapped; its keys stay. */
export function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapStrings(each, map)]))
}
