import { didYouMean } from '../base/suggest.ts'

/** The allowed keys of a YAML mapping, with their names in code. */
export interface KeyShape {
  /** As written in YAML -> as named in code. */
  readonly keys?: Readonly<Record<string, string>>
  /** The shape of the value by its YAML key; a sequence has the shape of its items. */
  readonly inside?: Readonly<Record<string, KeyShape>>
  /** The shape of each value, for a mapping whose keys are chosen by the user. */
  readonly each?: KeyShape
}

interface UnknownKey {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
}

/** Renames YAML keys to their names in code and reports unknown ones. */
export function renameYamlKeys(value: unknown, shape: KeyShape): { value: unknown; unknown: readonly UnknownKey[] } {
  const unknown: UnknownKey[] = []
  return { value: rename(value, shape, [], unknown), unknown }
}

function rename(value: unknown, shape: KeyShape, path: readonly PropertyKey[], unknown: UnknownKey[]): unknown {
  if (Array.isArray(value)) return value.map((item, index) => rename(item, shape, [...path, index], unknown))
  if (typeof value !== 'object' || value === null) return value
  const renamed: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    const name = shape.each === undefined ? ownValue(shape.keys, key) : key
    const inner = shape.each ?? ownValue(shape.inside, key)
    const at = [...path, key]
    if (shape.each !== undefined && key === '__proto__') {
      unknown.push({ path: at, message: `the key '${key}' is not allowed` })
    } else if (name !== undefined && Object.hasOwn(renamed, name)) {
      unknown.push({ path: at, message: `'${key}' repeats a key in another spelling` })
    } else if (name !== undefined) renamed[name] = inner === undefined ? item : rename(item, inner, at, unknown)
    else unknown.push({ path: at, ...describeUnknown(key, shape) })
  }
  return renamed
}

/** Lists a key that has two spellings once. */
function describeUnknown(key: string, { keys = {} }: KeyShape): Omit<UnknownKey, 'path'> {
  const spellings = new Map(Object.entries(keys).map(([written, name]) => [name, keys[name] === name ? name : written]))
  const message = `unknown key '${key}'.${didYouMean(key, Object.keys(keys))}`
  return { message, hint: `allowed keys: ${[...spellings.values()].join(', ')}` }
}

/** Renames keys to their spelling in code, without a check; unknown keys are left to later validation. */
export function respellYamlKeys(value: unknown, shape: KeyShape): unknown {
  if (Array.isArray(value)) return value.map((item) => respellYamlKeys(item, shape))
  if (typeof value !== 'object' || value === null) return value
  const respelled: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    const name = ownValue(shape.keys, key) ?? key
    const inner = ownValue(shape.inside, key)
    // Of a key in both spellings the second stays as written, and is rejected later as an unknown key.
    const target = Object.hasOwn(value, name) || Object.hasOwn(respelled, name) ? key : name
    respelled[target] = inner === undefined ? item : respellYamlKeys(item, inner)
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

/** Keys with the same name in YAML and in code. */
export function sameYamlKeys(names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, name]))
}

/** Keys that may be written in camelCase, as in code, or in snake_case. */
export function bothYamlSpellings(names: string): Record<string, string> {
  const snake = names.split(' ').map((name) => [toSnakeCase(name), name])
  return { ...sameYamlKeys(names), ...Object.fromEntries(snake) }
}

/** `displayName` as `display_name`. */
export const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const ownValue = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined

const findKey = (record: Readonly<Record<string, string>> | undefined, value: string) =>
  Object.entries(record ?? {}).find(([, name]) => name === value)?.[0]
