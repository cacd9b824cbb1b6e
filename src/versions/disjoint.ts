import { isObject, type JsonObject } from '../base/json-values.ts'
import { typesOf } from './compare-values.ts'
import { normalizeNode } from './schema-node.ts'
import { valuesMissing } from './values-missing.ts'

/** Maximum number of members, because every pair is compared. */
const maxMembers = 50

/** Whether no value can match two of the schemas, as far as types, enums and a discriminating property prove it. */
export function areDisjoint(members: readonly unknown[]): boolean {
  if (members.length > maxMembers || !members.every(isObject)) return false
  const nodes = members.map(normalizeNode)
  return nodes.every((node, index) => nodes.slice(index + 1).every((other) => excludes(node, other)))
}

function excludes(a: JsonObject, b: JsonObject): boolean {
  return haveDisjointTypes(a, b) || haveDisjointValues(a, b) || haveDiscriminator(a, b)
}

function haveDisjointTypes(a: JsonObject, b: JsonObject): boolean {
  const plain = (node: JsonObject) => typesOf(node).map((type) => (type === 'integer' ? 'number' : type))
  return valuesMissing(plain(a), plain(b)).length === plain(a).length
}

function haveDisjointValues(a: JsonObject, b: JsonObject): boolean {
  if (!Array.isArray(a.enum) || !Array.isArray(b.enum)) return false
  return valuesMissing(a.enum, b.enum).length === a.enum.length
}

/** Whether a property that both require has disjoint values. */
function haveDiscriminator(a: JsonObject, b: JsonObject): boolean {
  const areObjects = [a, b].every((node) => typesOf(node).every((type) => type === 'object'))
  if (!areObjects || !Array.isArray(a.required) || !Array.isArray(b.required)) return false
  const shared = a.required.filter((name) => (b.required as unknown[]).includes(name))
  return shared.some((name) => {
    const [left, right] = [propertyOf(a, name), propertyOf(b, name)]
    return left !== undefined && right !== undefined && haveDisjointValues(left, right)
  })
}

function propertyOf(node: JsonObject, name: string): JsonObject | undefined {
  const properties = isObject(node.properties) ? node.properties : {}
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(schema) ? normalizeNode(schema) : undefined
}
