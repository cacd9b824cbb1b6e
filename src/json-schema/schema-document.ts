import { isObject, type JsonObject } from '../base/json-values.ts'
import { fromPointer, toPointer } from '../base/problem.ts'
import { setOwn } from './copy-json.ts'
import { asserting, type Dialect, identifiers, type KeywordKind, keywords } from './keywords.ts'

/** A subschema in the stored document, and the same in 2020-12. */
export interface Subschema {
  readonly stored: JsonObject
  /** With keywords of 2020-12 only, without identifiers and definitions, and with refs that `target` resolves. */
  readonly node: JsonObject
  /** JSON pointer in the stored document. */
  readonly pointer: string
  /** Keywords that have no effect here, because of the draft. */
  readonly ignored: string[]
  readonly resource: Resource
}

/** A part of a document with its own `$id`: the root that `#` refers to, with its anchors. */
interface Resource {
  readonly root: JsonObject
  readonly pointer: string
  readonly anchors: Map<string, JsonObject>
}

interface PartsLocation extends Pick<Subschema, 'pointer' | 'resource'> {
  readonly word: string
}

/** The reason why a ref has no target; `known` are the names that exist. */
export type RefFault =
  | { readonly reason: 'other document' }
  | { readonly reason: 'malformed' }
  | { readonly reason: 'not a schema' }
  | { readonly reason: 'no anchor'; readonly name: string; readonly known: () => readonly string[] }
  | { readonly reason: 'no key'; readonly name: string; readonly known: () => readonly string[] }

/** An occurrence of `$ref` or `$dynamicRef`. */
export interface RefUse {
  readonly ref: string
  readonly pointer: string
  readonly resource: Resource
  readonly node: Record<string, unknown>
  fault?: RefFault
}

/** A target in the stored document. */
type Found = { readonly stored: JsonObject | boolean }

/** Keywords that a ref of draft-07 does not hide from a reader. */
const besideRef = new Set(['$ref', 'title', 'description', 'examples', '$comment'])

/**
 * A JSON Schema as every part of the program reads it: either draft normalized to 2020-12, and all refs resolved within the
 * document. Each subschema is visited once and no ref is expanded, so the work is linear in the size of the schema.
 */
export class SchemaDocument {
  readonly stored: unknown
  readonly dialect: Dialect
  /** The whole schema, normalized. */
  readonly root: unknown
  readonly subschemas: Subschema[] = []
  readonly refs: RefUse[] = []
  /** The normalized targets by the texts of normalized refs. */
  readonly targets = new Map<string, JsonObject | boolean>()
  readonly #maxSubschemas: number
  readonly #byPart = new Map<unknown, Subschema>()
  readonly #names = new Map<JsonObject | boolean, string>()

  /** `maxSubschemas` ends the traversal of a schema that is rejected for its size. */
  constructor(stored: unknown, maxSubschemas = Number.POSITIVE_INFINITY) {
    this.stored = stored
    this.#maxSubschemas = maxSubschemas
    this.dialect = dialectOf(stored) ?? (/draft-0[3-6]/.test(schemaUri(stored)) ? 'draft-07' : '2020-12')
    this.root = this.#enter(stored, '')
    let filled = 0
    // Both arrays grow during the loops: the target of a ref need not be at the position of a schema, and may contain refs.
    const fill = () => {
      for (; filled < this.subschemas.length; filled++) this.#fill(this.subschemas[filled] as Subschema)
    }
    fill()
    for (const use of this.refs) {
      this.#resolve(use)
      fill()
    }
  }

  /** The location of a stored or normalized subschema. */
  find(part: unknown): Subschema | undefined {
    return this.#byPart.get(part)
  }

  /** The normalized target of a normalized ref. */
  target(ref: unknown): JsonObject | boolean | undefined {
    return typeof ref === 'string' ? this.targets.get(ref) : undefined
  }

  /** The default of a normalized subschema: its own, or that of the target of its ref. */
  defaultOf(node: unknown): unknown {
    const followed = new Set<unknown>()
    for (let part = node; isObject(part) && !followed.has(part); part = this.target(part.$ref)) {
      if (part.default !== undefined) return part.default
      followed.add(part)
    }
    return undefined
  }

  #enter(stored: unknown, pointer: string, parent?: Resource): unknown {
    if (!isObject(stored)) return stored
    const known = this.#byPart.get(stored)
    if (known !== undefined) return known.node
    if (this.subschemas.length >= this.#maxSubschemas) return stored
    const starts = typeof stored.$id === 'string' && !stored.$id.startsWith('#')
    const resource = parent === undefined || starts ? { root: stored, pointer, anchors: new Map() } : parent
    for (const name of anchorsOf(stored, this.dialect)) resource.anchors.set(name, stored)
    this.#add({ stored, node: {}, pointer, ignored: [], resource }, stored)
    return this.#byPart.get(stored)?.node
  }

  #add(subschema: Subschema, stored?: JsonObject): void {
    this.#byPart.set(subschema.node, subschema)
    if (stored === undefined) return
    this.#byPart.set(stored, subschema)
    this.subschemas.push(subschema)
  }

  #fill(subschema: Subschema): void {
    const { stored, pointer, resource, ignored } = subschema
    const node = subschema.node as Record<string, unknown>
    const hides = this.dialect === 'draft-07' && typeof stored.$ref === 'string'
    const refs = new Map<string, string>()
    for (const [word, value] of Object.entries(stored)) {
      const kind = this.#kindOf(word, stored)
      const parts =
        typeof value === 'object' && value !== null ? this.#enterParts(kind, value, { word, pointer, resource }) : value
      if (identifiers.has(word)) continue
      if (hides ? !besideRef.has(word) : kind === undefined && constraints.has(word)) ignored.push(word)
      else if (kind === 'ref' && typeof value === 'string') refs.set(word, value)
      else for (const [name, part] of normalize(word, parts)) setOwn(node, name, part)
    }
    for (const word of ['$ref', '$dynamicRef']) {
      const ref = refs.get(word)
      if (ref !== undefined) this.#addRef(subschema, word, ref)
    }
    if (stored.nullable !== true || stored.type === undefined || hides) return
    node.type = [...new Set([stored.type, 'null'].flat())]
    delete node.nullable
  }

  /** Undefined for keywords without effect; an array of `items` is a tuple in either draft, as 2020-12 has no meaning for it. */
  #kindOf(word: string, { items }: JsonObject): KeywordKind | undefined {
    if (word !== 'additionalItems') return keywords[this.dialect].get(word)
    return Array.isArray(items) ? 'schema' : undefined
  }

  #enterParts(kind: KeywordKind | undefined, value: object, { word, pointer, resource }: PartsLocation): unknown {
    // The names of keywords need no escape.
    const at = `${pointer}/${word}`
    if (kind === 'schema' || (kind === 'items' && !Array.isArray(value))) return this.#enter(value, at, resource)
    if (kind === 'schemas' || kind === 'items')
      return Array.isArray(value) ? value.map((part, index) => this.#enter(part, `${at}/${index}`, resource)) : value
    if (kind !== 'schema map' && kind !== 'pattern map' && kind !== 'dependencies') return value
    if (!isObject(value)) return value
    const parts: Record<string, unknown> = {}
    for (const name of Object.keys(value)) {
      const part = value[name]
      setOwn(parts, name, isObject(part) ? this.#enter(part, at + toPointer([name]), resource) : part)
    }
    return parts
  }

  /** The validator knows no dynamic scope: `$dynamicRef` refers to the anchor of its own resource. */
  #addRef(subschema: Subschema, word: string, ref: string): void {
    const { resource } = subschema
    const pointer = subschema.pointer + toPointer([word])
    let node = subschema.node as Record<string, unknown>
    if (node.$ref !== undefined) {
      const own = node
      node = {}
      this.#add({ ...subschema, stored: {}, node, pointer })
      own.allOf = [...(Array.isArray(own.allOf) ? own.allOf : []), node]
    }
    node.$ref = ref
    this.refs.push({ ref, pointer, resource, node })
  }

  #resolve(use: RefUse): void {
    const found = this.#findTarget(use)
    if ('reason' in found) use.fault = found
    const stored = 'stored' in found ? found.stored : undefined
    const node = typeof stored === 'boolean' ? stored : this.#byPart.get(stored)?.node
    if (node === undefined) {
      // No normalized ref starts with `##`, so an unresolved one never equals one that is resolved.
      if (use.ref.startsWith('#')) use.node.$ref = `#${use.ref}`
      return
    }
    const name = this.#names.get(node) ?? `#${this.#names.size}`
    this.#names.set(node, name)
    this.targets.set(name, node)
    use.node.$ref = name
  }

  #findTarget({ ref, resource }: RefUse): Found | RefFault {
    if (!ref.startsWith('#')) return { reason: 'other document' }
    const fragment = decode(ref.slice(1))
    if (fragment === undefined) return { reason: 'malformed' }
    if (fragment === '') return { stored: resource.root }
    if (fragment.startsWith('/')) return this.#findByPointer(fragment, resource)
    const stored = resource.anchors.get(fragment)
    return stored === undefined
      ? { reason: 'no anchor', name: fragment, known: () => [...resource.anchors.keys()] }
      : { stored }
  }

  #findByPointer(fragment: string, resource: Resource): Found | RefFault {
    let value: unknown = resource.root
    for (const name of fromPointer(fragment)) {
      const keys = typeof value === 'object' && value !== null ? value : {}
      if (!Object.hasOwn(keys, name)) return { reason: 'no key', name, known: () => Object.keys(keys) }
      value = (keys as JsonObject)[name]
    }
    const pointer = resource.pointer + fragment
    if (typeof value === 'boolean') return { stored: value }
    if (!isObject(value)) return { reason: 'not a schema' }
    this.#enter(value, pointer, resource)
    return { stored: value }
  }
}

/** The value at a JSON pointer. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const key of fromPointer(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as JsonObject)[key]
  }
  return value
}

/** The draft that a schema declares; undefined if it is not supported. */
export function dialectOf(schema: unknown): Dialect | undefined {
  if (!isObject(schema) || schema.$schema === undefined) return '2020-12'
  const key = schemaUri(schema)
    .replace(/^https?:\/\//, '')
    .replace(/#$/, '')
  if (key === 'json-schema.org/draft-07/schema') return 'draft-07'
  return key === 'json-schema.org/draft/2020-12/schema' ? '2020-12' : undefined
}

const schemaUri = (schema: unknown): string =>
  isObject(schema) && typeof schema.$schema === 'string' ? schema.$schema : ''

/** The keywords of either draft that are not annotations: each draft ignores those of the other. */
const constraints = new Set([...asserting, '$dynamicRef', 'contentSchema'])

function anchorsOf({ $id, $anchor, $dynamicAnchor }: JsonObject, dialect: Dialect): readonly string[] {
  const names =
    dialect === '2020-12' ? [$anchor, $dynamicAnchor] : [String($id ?? '').startsWith('#') ? String($id).slice(1) : '']
  return names.filter((name) => typeof name === 'string').filter((name) => name !== '')
}

/** A keyword in 2020-12. */
function normalize(word: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (word === 'items' && Array.isArray(value)) return [['prefixItems', value]]
  if (word === 'additionalItems') return [['items', value]]
  if (word !== 'dependencies' || !isObject(value)) return [[word, value]]
  const entries = Object.entries(value)
  const parts = [
    ['dependentRequired', entries.filter(([, needed]) => Array.isArray(needed))],
    ['dependentSchemas', entries.filter(([, needed]) => !Array.isArray(needed))],
  ] as const
  return parts.filter(([, some]) => some.length > 0).map(([name, some]) => [name, Object.fromEntries(some)])
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
