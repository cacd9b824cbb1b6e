import { isObject } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import { listOf, textsOf } from './json-value.ts'

const formats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
const limits = { depth: 10, properties: 5000, values: 1000 }

interface Count {
  properties: number
  values: number
}

/** Whether OpenAI can enforce a schema in strict mode: all objects closed, all properties required, all types explicit. */
export function fitsStrict(root: JsonSchema): boolean {
  const count = { properties: 0, values: 0 }
  const parts = Object.values(isObject(root.$defs) ? root.$defs : {})
  if (![root, ...parts].every((part) => fits(part, 1, count))) return false
  return count.properties <= limits.properties && count.values <= limits.values
}

function fits(node: unknown, depth: number, count: Count): boolean {
  if (!isObject(node) || depth > limits.depth) return false
  if ('$ref' in node) return Object.keys(node).every((key) => key === '$ref' || key === 'description')
  if ('format' in node && !formats.includes(String(node.format))) return false
  count.values += listOf(node.enum).length
  if (Array.isArray(node.anyOf)) {
    return Object.keys(node).every((key) => key === 'anyOf' || key === 'description') && node.anyOf.every(next)
  }
  const types = [node.type].flat()
  if (types.length === 0 || !types.every((type) => typeof type === 'string')) return false
  if (types.includes('array') && !next(node.items)) return false
  return !types.includes('object') || fitsObject(node, next, count)

  function next(part: unknown): boolean {
    return fits(part, depth + 1, count)
  }
}

function fitsObject(node: JsonSchema, next: (part: unknown) => boolean, count: Count): boolean {
  const properties = isObject(node.properties) ? node.properties : {}
  const [names, required] = [Object.keys(properties), textsOf(node.required)]
  count.properties += names.length
  if (node.additionalProperties !== false || new Set(required).size !== names.length) return false
  return names.every((name) => required.includes(name)) && Object.values(properties).every(next)
}
