import { type Problem, toPointer } from '../base/problem.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import type { Finding } from './finding.ts'

const limits = { depth: 200, problems: 20 }
const openFields = ['inputSchema', 'outputSchema', 'executorConfig', 'annotations', '_meta', 'args']
// Files may spell them in snake_case.
const openObjects = new Set([...openFields, 'input_schema', 'output_schema', 'executor_config'])

/** Problems of values that JSON cannot express or the database cannot store. */
export function findUnstorable(value: unknown): readonly Problem[] {
  const problems: Problem[] = []
  const report = (path: readonly PropertyKey[], message: string, hint: string) =>
    void (
      problems.length < limits.problems && problems.push({ severity: 'error', pointer: toPointer(path), message, hint })
    )
  const inspect = (each: unknown, path: readonly PropertyKey[]): void => {
    if (path.length > limits.depth) report(path.slice(0, 5), 'is nested too deeply', 'reduce the nesting')
    else if (typeof each === 'string') {
      if (/\0|\p{Cs}/u.test(each)) report(path, 'contains U+0000 or a lone surrogate', 'remove it')
    } else if (isPlain(each)) {
      for (const [key, item] of Object.entries(each)) {
        if (/\0|\p{Cs}/u.test(key)) report(path, 'has a key that contains U+0000 or a lone surrogate', 'remove it')
        inspect(item, [...path, key])
      }
    } else if (!isScalar(each)) report(path, `is not JSON: ${kindOf(each)}`, 'pass plain data')
  }
  inspect(value, [])
  return problems
}

/** The key `__proto__` would be lost in an object that a schema copies key by key; deeper ones are preserved. */
function findLostKey(value: unknown, path: readonly PropertyKey[]): readonly Finding[] {
  if (!isPlain(value) || !Object.hasOwn(value, '__proto__')) return []
  return [{ path: [...path, '__proto__'], message: "the key '__proto__' is not allowed", hint: 'choose another name' }]
}

/** The keys that would be lost in the tools of an input, at any depth up to six. */
export function findLostKeys(value: unknown, path: readonly PropertyKey[] = []): readonly Finding[] {
  if (!isPlain(value) || path.length > 6) return []
  if (openObjects.has(String(path.at(-1)))) return findLostKey(value, path)
  const found: Finding[] = []
  for (const [key, item] of objectsIn(value)) found.push(...findLostKeys(item, [...path, key]))
  return found
}

/** The same, with turns for other work between the items of long lists. */
export async function findLostKeysInTurns(
  value: unknown,
  path: readonly PropertyKey[] = [],
): Promise<readonly Finding[]> {
  // Bundles have their lists on the second level.
  if (!isPlain(value) || path.length > 2 || openObjects.has(String(path.at(-1)))) return findLostKeys(value, path)
  const found: Finding[] = []
  const turn = yieldTurns()
  for (const [key, item] of objectsIn(value)) {
    found.push(...(await findLostKeysInTurns(item, [...path, key])))
    await turn()
  }
  return found
}

/** The objects and arrays in a value; an entry for each number of a long array would take longer than everything else. */
function* objectsIn(value: object): Generator<readonly [PropertyKey, object]> {
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
  for (const key of keys) {
    const item = (value as Readonly<Record<PropertyKey, unknown>>)[key]
    if (typeof item === 'object' && item !== null) yield [key, item]
  }
}

const isScalar = (value: unknown): boolean =>
  value === null || value === undefined || typeof value === 'boolean' || Number.isFinite(value)

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}

const kindOf = (value: unknown): string =>
  typeof value === 'object' ? `a ${value?.constructor?.name ?? 'object without a prototype'}` : `a ${typeof value}`
