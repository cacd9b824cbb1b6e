import { type Problem, toPointer } from '../base/problem.ts'
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
  if (!openObjects.has(String(path.at(-1))))
    return Object.entries(value).flatMap(([key, item]) => (isPlain(item) ? findLostKeys(item, [...path, key]) : []))
  return findLostKey(value, path)
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
