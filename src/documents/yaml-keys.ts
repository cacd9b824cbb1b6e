import { didYouMean } from '../base/suggest.ts'

/** Which keys a YAML mapping may have, and what they are called in code. */
export interface KeyShape {
  /** As written in YAML -> as named in code. */
  readonly keys?: Readonly<Record<string, string>>
  /** The shape of what a key holds, by its YAML name; a list has the shape of its items. */
  readonly inside?: Readonly<Record<string, KeyShape>>
  /** For a mapping whose keys are names chosen by the user: the shape of each value. */
  readonly each?: KeyShape
}

/** A key that means nothing where it stands. */
interface UnknownKey {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
}

/** Renames YAML keys to their names in code and reports those that nobody knows. */
export function renameKeys(value: unknown, shape: KeyShape): { value: unknown; unknown: readonly UnknownKey[] } {
  const unknown: UnknownKey[] = []
  return { value: rename(value, shape, [], unknown), unknown }
}

function rename(value: unknown, shape: KeyShape, path: readonly PropertyKey[], unknown: UnknownKey[]): unknown {
  if (Array.isArray(value)) return value.map((item, index) => rename(item, shape, [...path, index], unknown))
  if (typeof value !== 'object' || value === null) return value
  const renamed: Record<string, unknown> = {}
  for (const [key, held] of Object.entries(value)) {
    const name = shape.each === undefined ? ownValue(shape.keys, key) : key
    const inner = shape.each ?? ownValue(shape.inside, key)
    const at = [...path, key]
    if (shape.each !== undefined && key === '__proto__') {
      unknown.push({ path: at, message: `the key '${key}' is not allowed` })
    } else if (name !== undefined && Object.hasOwn(renamed, name)) {
      unknown.push({ path: at, message: `'${key}' says again what stands here under another spelling` })
    } else if (name !== undefined) renamed[name] = inner === undefined ? held : rename(held, inner, at, unknown)
    else unknown.push({ path: at, ...describeUnknown(key, shape) })
  }
  return renamed
}

/** A key in both spellings is told of once. */
function describeUnknown(key: string, { keys = {} }: KeyShape): Omit<UnknownKey, 'path'> {
  const spellings = new Map(Object.entries(keys).map(([written, name]) => [name, keys[name] === name ? name : written]))
  const message = `unknown key '${key}'.${didYouMean(key, Object.keys(keys))}`
  return { message, hint: `it takes: ${[...spellings.values()].join(', ')}` }
}

/** Gives keys the spelling they have in code, and leaves those that it does not know to whoever checks the data. */
export function respellKeys(value: unknown, shape: KeyShape): unknown {
  if (Array.isArray(value)) return value.map((item) => respellKeys(item, shape))
  if (typeof value !== 'object' || value === null) return value
  const respelled: Record<string, unknown> = {}
  for (const [key, held] of Object.entries(value)) {
    const name = ownValue(shape.keys, key) ?? key
    const inner = ownValue(shape.inside, key)
    // What stands there under both spellings keeps the second as an unknown key, which is refused.
    const free = Object.hasOwn(value, name) || Object.hasOwn(respelled, name) ? key : name
    respelled[free] = inner === undefined ? held : respellKeys(held, inner)
  }
  return respelled
}

/** A path into the renamed data, as it was written in the YAML. */
export function toYamlPath(path: readonly PropertyKey[], shape: KeyShape): readonly PropertyKey[] {
  let current: KeyShape | undefined = shape
  return path.map((part) => {
    if (typeof part === 'number' || current === undefined) return part
    const written: string = current.each ? String(part) : (findKey(current.keys, String(part)) ?? String(part))
    current = current.each ?? ownValue(current.inside, written)
    return written
  })
}

/** Keys that are called the same in YAML and in code. */
export function sameKeys(names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, name]))
}

/** Keys that may be written in camelCase, as they are named in code, or in snake_case. */
export function bothSpellings(names: string): Record<string, string> {
  const snake = names.split(' ').map((name) => [toSnakeCase(name), name])
  return { ...sameKeys(names), ...Object.fromEntries(snake) }
}

/** `displayName` as `display_name`. */
export const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const ownValue = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined

const findKey = (record: Readonly<Record<string, string>> | undefined, value: string) =>
  Object.entries(record ?? {}).find(([, name]) => name === value)?.[0]
