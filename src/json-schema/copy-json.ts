import { OutOfBudget } from '../base/work-budget.ts'
import { schemaLimits } from './limits.ts'

type Path = readonly PropertyKey[]

/** The reason why a value is not JSON, or exceeds the limits. */
export class NotJson extends Error {
  readonly path: Path

  constructor(path: Path, message: string) {
    super(message)
    this.path = path
  }
}

interface Count {
  nodes: number
  characters: number
  readonly max: number
}

/** A copy of a JSON value, and its size. */
export interface CopiedJson {
  readonly value: unknown
  /** Objects, arrays and scalars. */
  readonly nodes: number
  /** Of all strings that are not keys. */
  readonly characters: number
}

/** A copy of a JSON value; throws NotJson for values that JSON cannot express, including cycles, and OutOfBudget past `maxNodes`. */
export function copyJson(value: unknown, maxNodes: number = schemaLimits.valueNodes): CopiedJson {
  const count: Count = { nodes: 0, characters: 0, max: maxNodes }
  return { value: copy(value, [], count), nodes: count.nodes, characters: count.characters }
}

function copy(value: unknown, path: PropertyKey[], count: Count): unknown {
  if (++count.nodes > schemaLimits.valueNodes) throw new NotJson([], 'contains too many values')
  if (count.nodes > count.max) throw new OutOfBudget('the size of the value')
  if (path.length > schemaLimits.valueDepth) {
    throw new NotJson(path.slice(0, 3), `nests deeper than ${schemaLimits.valueDepth} levels`)
  }
  if (typeof value === 'string') count.characters += value.length
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) return Array.from(value, (item: unknown, index) => copyItem(item, index, path, count))
  if (!isPlain(value)) throw new NotJson([...path], 'is not a JSON value')
  const copied: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) setOwnProperty(copied, key, copyItem(item, key, path, count))
  }
  return copied
}

function copyItem(value: unknown, key: PropertyKey, path: PropertyKey[], count: Count): unknown {
  path.push(key)
  const copied = copy(value, path, count)
  path.pop()
  return copied
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Sets an own property of any name: assigning to `__proto__` would change the prototype. */
export function setOwnProperty(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
