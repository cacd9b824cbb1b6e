import { isObject, type JsonObject } from '../base/json-values.ts'
import { fromPointer } from '../base/problem.ts'
import { setOwnProperty } from './copy-json.ts'
import {
  constraints,
  type Dialect,
  dialectOfSchema,
  differing,
  identifiers,
  inPlace,
  isOlderDraft,
  type KeywordKind,
  keywords,
} from './keywords.ts'
import { type RefFault, type RefUse, type Resource, Subschema } from './subschema.ts'

/** Keywords that a ref of draft-07 does not hide from a reader. */
const besideRef = new Set(['$ref', 'title', 'description', 'examples', '$comment'])

/**
 * A JSON Schema as every part of the program reads it: either draft normalized to 2020-12, and all refs resolved within the
 * document. Each subschema is visited once, none is copied unless it differs, and no ref is expanded, so the work is linear
 * in the size of the schema.
 */
export class SchemaDocument {
  readonly stored: unknown
  readonly dialect: Dialect
  readonly subschemas: Subschema[] = []
  readonly refs: RefUse[] = []
  /** The normalized targets by the texts of normalized refs. */
  readonly targets = new Map<string, JsonObject | boolean>()
  readonly #maxSubschemas: number
  readonly #byPart = new Map<unknown, Subschema>()

  /** `maxSubschemas` ends the traversal of a schema that is rejected for its size. */
  constructor(stored: unknown, maxSubschemas = Number.POSITIVE_INFINITY) {
    this.stored = stored
    this.#maxSubschemas = maxSubschemas
    this.dialect = dialectOfSchema(stored) ?? (isOlderDraft(stored) ? 'draft-07' : '2020-12')
    this.#enter(stored)
    this.#scanAll()
    this.#markDifferent()
    for (const subschema of this.subschemas) if (subschema.differs) this.#fill(subschema)
    this.#nameTargets()
  }

  /** The whole schema, normalized. */
  get root(): unknown {
    return this.#nodeOf(this.stored)
  }

  /** The location of a stored or normalized subschema. */
  find(part: unknown): Subschema | undefined {
    return this.#byPart.get(part)
  }

  /** The normalized target of a normalized ref. */
  target(ref: unknown): JsonObject | boolean | undefined {
    return typeof ref === 'string' ? this.targets.get(ref) : undefined
  }

  /** The normalized subschema whose default applies: itself, or the target of its ref. */
  withDefault(node: unknown): JsonObject | undefined {
    const followed = new Set<unknown>()
    for (let part = node; isObject(part) && !followed.has(part); part = this.target(part.$ref)) {
      if (part.default !== undefined) return part
      followed.add(part)
    }
    return undefined
  }

  /** The schemas that apply to the same value as a normalized one: those of some keywords, then the target of its ref. */
  sameValue(node: JsonObject, words: readonly string[] = inPlace): readonly JsonObject[] {
    const parts: unknown[] = []
    for (const word of words) {
      const value = node[word]
      if (Array.isArray(value)) parts.push(...value)
      else if (word === 'dependentSchemas' && isObject(value)) parts.push(...Object.values(value))
      else if (value !== undefined) parts.push(value)
    }
    return [...parts, this.target(node.$ref)].filter(isObject)
  }

  /** The same with the schemas that apply through those, each once, after the schema itself; by default all that always apply. */
  together(node: unknown, words: readonly string[] = ['allOf']): ReadonlySet<JsonObject> {
    const parts = new Set(isObject(node) ? [node] : [])
    // The set grows during the loop.
    for (const part of parts) for (const next of this.sameValue(part, words)) parts.add(next)
    return parts
  }

  #nodeOf = (part: unknown): unknown => this.#byPart.get(part)?.node ?? part

  #enter(stored: unknown, parent?: Subschema, keyword?: string, name?: string | number): void {
    if (!isObject(stored) || this.subschemas.length >= this.#maxSubschemas) return
    if (this.#byPart.has(stored)) {
      // It is marked by its first parent only.
      if (parent !== undefined) parent.differs = true
      return
    }
    const subschema = new Subschema(stored, parent, keyword, name)
    this.#byPart.set(stored, subschema)
    this.subschemas.push(subschema)
  }

  /** Both arrays grow during the loops: the target of a ref need not be at the position of a schema, and may contain refs. */
  #scanAll(): void {
    let scanned = 0
    const scan = () => {
      for (; scanned < this.subschemas.length; scanned++) this.#scan(this.subschemas[scanned] as Subschema)
    }
    scan()
    for (const use of this.refs) {
      this.#resolve(use)
      scan()
    }
  }

  #scan(subschema: Subschema): void {
    const { stored } = subschema
    const isDifferent = differing[this.dialect]
    for (const word of Object.keys(stored)) {
      const value = stored[word]
      if (isDifferent.has(word)) subschema.differs = true
      if (typeof value === 'object' && value !== null) this.#enterParts(subschema, word, value)
    }
    if (!subschema.differs) return
    for (const name of anchorsOf(stored, this.dialect)) subschema.resource.anchors.set(name, subschema)
    for (const word of ['$ref', '$dynamicRef'] as const) {
      const ref = stored[word]
      if (typeof ref === 'string' && keywords[this.dialect].has(word)) this.refs.push({ ref, word, subschema })
    }
  }

  #enterParts(parent: Subschema, word: string, value: object): void {
    const kind = this.#kindOf(word, parent.stored)
    if (kind === 'schema' || (kind === 'items' && !Array.isArray(value))) this.#enter(value, parent, word)
    else if (kind === 'schemas' || kind === 'items') {
      if (!Array.isArray(value)) return
      if (kind === 'items') parent.differs = true
      for (let index = 0; index < value.length; index++) this.#enter(value[index], parent, word, index)
    } else if (isMap(kind) && isObject(value)) {
      for (const name of Object.keys(value)) this.#enter(value[name], parent, word, name)
    }
  }

  /** Undefined for keywords without effect; an array of `items` is a tuple in either draft, as 2020-12 has no meaning for it. */
  #kindOf(word: string, { items }: JsonObject): KeywordKind | undefined {
    if (word !== 'additionalItems') return keywords[this.dialect].get(word)
    return Array.isArray(items) ? 'schema' : undefined
  }

  /** A subschema differs if one of its parts does; parts are after their parents. */
  #markDifferent(): void {
    for (let index = this.subschemas.length - 1; index >= 0; index--) {
      const subschema = this.subschemas[index] as Subschema
      if (!subschema.differs) continue
      if (subschema.parent !== undefined) subschema.parent.differs = true
      subschema.node = {}
      this.#byPart.set(subschema.node, subschema)
    }
  }

  #fill(subschema: Subschema): void {
    const { stored } = subschema
    const node = subschema.node as Record<string, unknown>
    const hides = this.dialect === 'draft-07' && typeof stored.$ref === 'string'
    const ignored: string[] = []
    for (const word of Object.keys(stored)) {
      if (identifiers.has(word)) continue
      const value = stored[word]
      const kind = this.#kindOf(word, stored)
      if (hides ? !besideRef.has(word) : kind === undefined && constraints.has(word)) ignored.push(word)
      else if (kind === 'ref' && typeof value === 'string') continue
      else put(node, word, typeof value === 'object' ? this.#toNodes(kind, value) : value)
    }
    subschema.ignored = ignored
    if (stored.nullable !== true || stored.type === undefined || hides) return
    node.type = [...new Set([stored.type, 'null'].flat())]
    delete node.nullable
  }

  #toNodes(kind: KeywordKind | undefined, value: unknown): unknown {
    if (Array.isArray(value)) return kind === 'schemas' || kind === 'items' ? value.map(this.#nodeOf) : value
    if (kind === 'schema' || kind === 'items') return this.#nodeOf(value)
    if (!isMap(kind) || !isObject(value)) return value
    const parts: Record<string, unknown> = {}
    for (const name of Object.keys(value)) setOwnProperty(parts, name, this.#nodeOf(value[name]))
    return parts
  }

  #nameTargets(): void {
    const names = new Map<unknown, string>()
    for (const use of this.refs) {
      const node = use.target instanceof Subschema ? use.target.node : use.target
      const name = names.get(node) ?? `#${names.size}`
      if (node !== undefined) {
        names.set(node, name)
        this.targets.set(name, node)
      }
      // No normalized ref starts with `##`, so an unresolved one never equals one that is resolved.
      this.#putRef(use, node !== undefined ? name : use.ref.startsWith('#') ? `#${use.ref}` : use.ref)
    }
  }

  /** The validator knows no dynamic scope: `$dynamicRef` refers to the anchor of its own resource. */
  #putRef({ subschema, word }: RefUse, name: string): void {
    const node = subschema.node as Record<string, unknown>
    if (node.$ref === undefined) {
      node.$ref = name
      return
    }
    const second = new Subschema({}, subschema, word)
    second.node = { $ref: name }
    this.#byPart.set(second.node, second)
    node.allOf = [...(Array.isArray(node.allOf) ? node.allOf : []), second.node]
  }

  #resolve(use: RefUse): void {
    const { found } = use.subschema.resource
    const target = found.get(use.ref) ?? this.#findTarget(use)
    if (typeof target === 'object' && 'reason' in target) use.fault = target
    else if (target !== undefined) {
      if (typeof target === 'object') target.isTarget = true
      use.target = target
      found.set(use.ref, target)
    }
  }

  /** Undefined for a subschema beyond the limit. */
  #findTarget({ ref, subschema: { resource } }: RefUse): Subschema | boolean | RefFault | undefined {
    if (!ref.startsWith('#')) return { reason: 'other document' }
    const fragment = decodePercent(ref.slice(1))
    if (fragment === undefined) return { reason: 'malformed' }
    if (fragment === '') return resource.root
    if (fragment.startsWith('/')) return this.#findByPointer(fragment, resource)
    const known = () => [...resource.anchors.keys()]
    return resource.anchors.get(fragment) ?? { reason: 'no anchor', name: fragment, known }
  }

  #findByPointer(fragment: string, { root }: Resource): Subschema | boolean | RefFault | undefined {
    let value: unknown = root.stored
    for (const name of fromPointer(fragment)) {
      const keys = typeof value === 'object' && value !== null ? value : {}
      if (!Object.hasOwn(keys, name)) return { reason: 'no key', name, known: () => Object.keys(keys) }
      value = (keys as JsonObject)[name]
    }
    if (typeof value === 'boolean') return value
    if (!isObject(value)) return { reason: 'not a schema' }
    if (!this.#byPart.has(value)) this.#enter(value, root, fragment.slice(1))
    return this.#byPart.get(value)
  }
}

const isMap = (kind: KeywordKind | undefined): boolean =>
  kind === 'schema map' || kind === 'pattern map' || kind === 'dependencies'

/** The value at a JSON pointer. */
export function valueAtPointer(document: unknown, pointer: string): unknown {
  let value = document
  for (const key of fromPointer(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as JsonObject)[key]
  }
  return value
}

function anchorsOf({ $id, $anchor, $dynamicAnchor }: JsonObject, dialect: Dialect): readonly string[] {
  const names =
    dialect === '2020-12' ? [$anchor, $dynamicAnchor] : [String($id ?? '').startsWith('#') ? String($id).slice(1) : '']
  return names.filter((name) => typeof name === 'string').filter((name) => name !== '')
}

/** Adds a keyword to a normalized schema, as it is in 2020-12. */
function put(node: Record<string, unknown>, word: string, value: unknown): void {
  if (word === 'items' && Array.isArray(value)) node.prefixItems = value
  else if (word === 'additionalItems') node.items = value
  else if (word !== 'dependencies' || !isObject(value)) setOwnProperty(node, word, value)
  else {
    const entries = Object.entries(value)
    const [names, schemas] = [true, false].map((isList) => entries.filter(([, part]) => Array.isArray(part) === isList))
    if (names?.length) node.dependentRequired = Object.fromEntries(names)
    if (schemas?.length) node.dependentSchemas = Object.fromEntries(schemas)
  }
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
