import { isObject, type JsonObject, listOf } from '../base/json-values.ts'
import { WorkBudget } from '../base/work-budget.ts'
import { checkKeyword } from '../json-schema/check-keyword.ts'
import { asserting, containerOfKeyword, keywords } from '../json-schema/keywords.ts'
import type { SchemaDocument } from '../json-schema/schema-document.ts'
import { listedValues, possibleTypes } from '../json-schema/value-types.ts'

/** A schema with its refs resolved. */
export interface OpenSchema {
  readonly node: JsonObject | boolean
  /** The target of a resolved ref; it need not be compared again. */
  readonly target?: unknown
}

const maxHops = 50

/** Formats and contents are not validated, but constrain the values that are meant. */
const constraining = new Set([...asserting, 'format', 'contentEncoding', 'contentMediaType', 'contentSchema', '$ref'])
constraining.delete('default')

/** Whether a keyword does not constrain values. */
export const isAnnotation = (keyword: string) => !constraining.has(keyword)

/** Whether a schema has keywords that constrain values. */
export const isConstrained = (node: JsonObject) => Object.keys(node).some((key) => constraining.has(key))

/** The keywords of a schema that constrain values. */
export function withoutAnnotations(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => constraining.has(key)))
}

/** Resolves the refs of a normalized schema; undefined if a target does not exist, is outside or is not a schema. */
export function openSchemaNode(schema: unknown, document: SchemaDocument): OpenSchema | undefined {
  let notes: JsonObject = {}
  let current = schema
  for (let hops = 0; hops < maxHops; hops++) {
    if (typeof current === 'boolean') return hops > 0 ? { node: current, target: current } : { node: current }
    if (!isObject(current)) return undefined
    const { $ref, ...rest } = current
    if ($ref === undefined) {
      return hops > 0 ? { node: { ...current, ...notes }, target: current } : { node: current }
    }
    if (isConstrained(rest)) return { node: { ...rest, ...notes, allOf: [...listOf(rest.allOf), { $ref }] } }
    notes = { ...rest, ...notes }
    current = document.target($ref)
  }
  return undefined
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

/** The schema with its values as an enum and its types as an array; malformed keywords are omitted. */
export function normalizeNode(node: JsonObject): JsonObject {
  const clean = Object.fromEntries(Object.entries(node).filter(([key, value]) => isWellFormed(key, value)))
  const { const: _const, type: _type, ...rest } = clean
  const [values, types] = [listedValues(clean), possibleTypes(clean)]
  return { ...rest, ...(values && { enum: values }), ...(types && { type: types }) }
}

/** Whether the value of a keyword is valid JSON Schema; true for annotations. */
export function isWellFormed(keyword: string, value: unknown): boolean {
  const container = containerOfKeyword(keyword)
  if (container === 'schema') return isSchema(value)
  if (container === 'array') return Array.isArray(value) && value.every(isSchema)
  if (container === 'map') return isObject(value) && Object.values(value).every(isSchema)
  const kind = isAnnotation(keyword) ? undefined : keywords['2020-12'].get(keyword)
  if (kind === undefined || kind === 'enum') return kind === undefined || Array.isArray(value)
  // Patterns are compared as texts.
  return checkKeyword(kind === 'pattern' ? 'text' : kind, value, keyword, new WorkBudget(0)).length === 0
}

/** Whether a value is a schema. */
export const isSchema = (value: unknown): boolean => isObject(value) || typeof value === 'boolean'
