import { type Problem, toPointer } from '../base/problem.ts'
import type { Finding } from './finding.ts'

const most = { depth: 200, problems: 20 }
const open = new Set(['inputSchema', 'outputSchema', 'executorConfig', 'annotations', '_meta', 'args'])

/** Values that a program may hand over and that no JSON can say, or no store can keep. */
export function findUnstorable(value: unknown): readonly Problem[] {
  const problems: Problem[] = []
  const say = (path: readonly PropertyKey[], message: string, hint: string) =>
    void (
      problems.length < most.problems && problems.push({ severity: 'error', pointer: toPointer(path), message, hint })
    )
  const look = (each: unknown, path: readonly PropertyKey[]): void => {
    if (path.length > most.depth) say(path.slice(0, 5), 'is nested too deeply', 'nest it less')
    else if (typeof each === 'string') {
      if (/\0|\p{Cs}/u.test(each)) say(path, 'has a character that no text can have', 'take it out')
    } else if (isPlain(each)) {
      for (const [key, held] of Object.entries(each)) {
        if (/\0|\p{Cs}/u.test(key)) say(path, 'has a key with a character that no text can have', 'take it out')
        look(held, [...path, key])
      }
    } else if (!isScalar(each)) say(path, `is no JSON: ${kindOf(each)}`, 'hand over plain data')
  }
  look(value, [])
  return problems
}

/** `__proto__` as a key of an object that a schema copies key by key would be lost; further inside it is kept. */
export function findLostKey(value: unknown, path: readonly PropertyKey[]): readonly Finding[] {
  if (!isPlain(value) || !Object.hasOwn(value, '__proto__')) return []
  return [{ path: [...path, '__proto__'], message: "the key '__proto__' is not allowed", hint: 'choose another name' }]
}

/** The keys of an input that would be lost, wherever in it a tool stands. */
export function findLostKeys(value: unknown, path: readonly PropertyKey[] = []): readonly Problem[] {
  if (!isPlain(value) || path.length > 6) return []
  if (!open.has(String(path.at(-1))))
    return Object.entries(value).flatMap(([key, held]) => (isPlain(held) ? findLostKeys(held, [...path, key]) : []))
  return findLostKey(value, path).map(({ path: at, ...said }) => ({
    severity: 'error',
    pointer: toPointer(at),
    ...said,
  }))
}

const isScalar = (value: unknown): boolean =>
  value === null || value === undefined || typeof value === 'boolean' || Number.isFinite(value)

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}

const kindOf = (value: unknown): string =>
  typeof value === 'object' ? `a ${value?.constructor?.name ?? 'strange object'}` : `a ${typeof value}`
