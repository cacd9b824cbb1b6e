import type { Finding } from '../../diagnostics/finding.ts'
import type { YamlDocument } from '../../documents/yaml-document.ts'
import { toSnakeCase } from '../../documents/yaml-keys.ts'

/** What a file holds, in the shape of a bundle, and where each part of it stood. */
export interface BundleView {
  readonly value: unknown
  /** A path into `value` as a path into the file. */
  readonly origin: (path: readonly PropertyKey[]) => readonly PropertyKey[]
  /** Found while the shape was changed, at paths into `value`. */
  readonly findings: readonly Finding[]
  /** The file has no place to declare categories, so those that its tools name exist. */
  readonly impliesCategories: boolean
}

/** Plain data with named parts. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What an object holds under a key, in camelCase or in snake_case. */
export function fieldOf(fields: Fields, name: string): unknown {
  const key = spellingIn(fields, name)
  return key === undefined ? undefined : fields[key]
}

/** How an object spells a key, where it has it. */
export const spellingIn = (fields: Fields, name: string): string | undefined =>
  [name, toSnakeCase(name)].find((key) => Object.hasOwn(fields, key))

/** A view as a document: positions are those of the file, whichever way its keys are spelled. */
export function toDocument(document: YamlDocument, view: BundleView): YamlDocument {
  return {
    value: view.value,
    problems: document.problems,
    locate: (path, at) => document.locate(respell(document.value, view.origin(path)), at),
  }
}

/** A path of names in code as the keys are spelled in the data. */
export function respell(root: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] {
  let holder = root
  return path.map((part) => {
    const key = isFields(holder) ? (spellingIn(holder, String(part)) ?? part) : part
    holder = (holder as Record<PropertyKey, unknown> | undefined)?.[key]
    return key
  })
}
