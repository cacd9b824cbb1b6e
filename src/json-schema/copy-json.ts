import { OutOfBudget } from '../base/work-budget.ts'
import { schemaLimits } from './limits.ts'

type Path = readonly PropertyKey[]

/** Why a value is no JSON value, or is more than one may be. */
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
  readonly most: number
}

/** A copy of a JSON value, and its size. */
export interface CopiedJson {
  readonly value: unknown
  /** Objects, arrays and single values. */
  readonly nodes: number
  /** Of all strings that are not names. */
  readonly characters: number
}

/** A copy of a JSON value; throws NotJson for what JSON cannot say, cycles included, and OutOfBudget past `maxNodes`. */
export function copyJson(value: unknown, maxNodes: number = schemaLimits.valueNodes): CopiedJson {
  const count: Count = { nodes: 0, characters: 0, most: maxNodes }
  return { value: copy(value, [], count), nodes: count.nodes, characters: count.characters }
}

function copy(value: unknown, path: PropertyKey[], count: Count): unknown {
  if (++count.nodes > schemaLimits.valueNodes) throw new NotJson([], 'has too many parts')
  if (count.nodes > count.most) throw new OutOfBudget('the size of the value')
  if (path.length > schemaLimits.valueDepth) {
    throw new NotJson(path.slice(0, 3), `nests deeper than ${schemaLimits.valueDepth} levels`)
  }
  if (typeof value === 'string') count.characters += value.length
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) return Array.from(value, (item: unknown, index) => inside(item, index, path, count))
  if (!isPlain(value)) throw new NotJson([...path], 'is not a JSON value')
  const made: Record<string, unknown> = {}
  for (const [key, held] of Object.entries(value)) {
    if (held !== undefined) setOwn(made, key, inside(held, key, path, count))
  }
  return made
}

function inside(value: unknown, key: PropertyKey, path: PropertyKey[], count: Count): unknown {
  path.push(key)
  const made = copy(value, path, count)
  path.pop()
  return made
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Sets a property of its own whatever it is called: assigning to `__proto__` would change the prototype. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
