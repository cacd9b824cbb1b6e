import { isObject, type JsonObject, sameJson } from '../base/json-values.ts'
import { isWellFormed } from './keyword-shapes.ts'

/** A schema with its refs resolved. */
export interface OpenSchema {
  readonly node: JsonObject | boolean
  /** The target of a resolved ref; it need not be compared again. */
  readonly target?: unknown
}

const maxHops = 50
const structural = new Set(['$schema', '$defs', 'definitions', '$comment', '$anchor', '$vocabulary', '$id'])
const annotations = ['title', 'description', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment', 'default']
const annotationSet = new Set(annotations)

/** Whether a keyword does not constrain values. */
export const isAnnotation = (keyword: string) => annotationSet.has(keyword) || !isKnown(keyword)

const constraining = new Set(
  `type enum const properties required additionalProperties patternProperties propertyNames minProperties maxProperties
  items prefixItems additionalItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems
  unevaluatedProperties dependencies dependentRequired dependentSchemas minimum maximum exclusiveMinimum exclusiveMaximum
  multipleOf minLength maxLength pattern format contentEncoding contentMediaType contentSchema allOf anyOf oneOf not if
  then else nullable $ref $dynamicRef $recursiveRef $dynamicAnchor $recursiveAnchor`.split(/\s+/),
)
const isKnown = (keyword: string) => constraining.has(keyword) || structural.has(keyword)

/** Whether a schema has keywords that constrain values. */
export const isConstrained = (node: JsonObject) => Object.keys(node).some((key) => constraining.has(key))

/** The keywords of a schema that constrain values. */
export function withoutAnnotations(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => constraining.has(key)))
}

/** Resolves refs within the document; undefined if a target does not exist, is outside or is not a schema. */
export function openSchema(schema: unknown, root: unknown): OpenSchema | undefined {
  let notes: JsonObject = {}
  let current = schema
  for (let hops = 0; hops < maxHops; hops++) {
    if (typeof current === 'boolean') return hops > 0 ? { node: current, target: current } : { node: current }
    if (!isObject(current) || (current !== root && typeof current.$id === 'string')) return undefined
    const { $ref, ...rest } = current
    if ($ref === undefined) {
      return hops > 0 ? { node: { ...current, ...notes }, target: current } : { node: current }
    }
    if (isConstrained(rest)) return { node: { ...rest, ...notes, allOf: [...listOf(rest.allOf), { $ref }] } }
    notes = { ...annotationsOf(rest), ...notes }
    current = lookUp(root, $ref)
  }
  return undefined
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const annotationsOf = (node: JsonObject) =>
  Object.fromEntries(Object.entries(node).filter(([key]) => isAnnotation(key)))

function lookUp(root: unknown, ref: unknown): unknown {
  if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) return undefined
  let current = root
  for (const part of ref.split('/').slice(1)) {
    const key = unescapePart(part)
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined
    current = (current as JsonObject)[key]
  }
  return current
}

function unescapePart(part: string): string {
  const plain = /%(?![0-9a-f]{2})/i.test(part) ? part : tryDecode(part)
  return plain.replaceAll('~1', '/').replaceAll('~0', '~')
}

function tryDecode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Whether a schema contains a ref, so that equal texts may have different meanings. */
export function hasReference(schema: unknown): boolean {
  const parts: unknown[] = [schema]
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (typeof part !== 'object' || part === null) continue
    if (Object.keys(part).some((key) => /^\$.*ref$/i.test(key))) return true
    for (const inner of Object.values(part)) if (inner !== undefined) parts.push(inner)
  }
  return false
}

/** The schema with equivalent keywords normalized; malformed keywords are omitted. */
export function normalizeNode(node: JsonObject): JsonObject {
  const clean = Object.fromEntries(Object.entries(node).filter(([key, value]) => isWellFormed(key, value)))
  return normalizeItems(normalizeValues(clean))
}

function normalizeValues({ const: only, type, ...rest }: JsonObject): JsonObject {
  const types = type === undefined ? undefined : [type].flat()
  const listed = rest.enum as readonly unknown[] | undefined
  const values = only === undefined ? listed : (listed ?? [only]).filter((value) => sameJson(value, only))
  if (values === undefined) return types === undefined ? rest : { ...rest, type: types }
  const possible = values.filter((value) => types === undefined || types.some((name) => isOfType(value, name)))
  return { ...rest, enum: possible, type: [...new Set(possible.map(typeOfValue))] }
}

const isOfType = (value: unknown, type: unknown) => {
  const own = typeOfValue(value)
  return own === type || (own === 'integer' && type === 'number')
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/** Tuples are `items` and `additionalItems` in draft-07, `prefixItems` and `items` in 2020-12. */
function normalizeItems({ additionalItems, ...node }: JsonObject): JsonObject {
  if (!Array.isArray(node.items)) return node
  const { items, ...rest } = node
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) }
}
