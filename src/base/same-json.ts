/** Whether two JSON values are equal whatever the order of their keys; loops, because depth is up to whoever wrote them. */
export function sameJson(a: unknown, b: unknown): boolean {
  const pairs: [unknown, unknown][] = [[a, b]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [left, right] = pair
    if (left === right || (Number.isNaN(left) && Number.isNaN(right))) continue
    const parts = pairParts(left, right)
    if (parts === undefined) return false
    for (const part of parts) pairs.push(part)
  }
  return true
}

function pairParts(left: unknown, right: unknown): [unknown, unknown][] | undefined {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length ? left.map((item, index) => [item, right[index]]) : undefined
  }
  if (!isObject(left) || !isObject(right)) return undefined
  const keys = definedKeys(left)
  if (keys.length !== definedKeys(right).length || keys.some((key) => !Object.hasOwn(right, key))) return undefined
  return keys.map((key) => [left[key], right[key]])
}

/** JSON does not write a key whose value is undefined. */
const definedKeys = (value: JsonObject) => Object.keys(value).filter((key) => value[key] !== undefined)

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is an object of JSON, which a list is not. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
