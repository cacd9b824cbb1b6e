import { isObject } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import { omit } from './json-value.ts'

/** Rewrites keywords of draft-07 (tuples, dependencies) and OpenAPI (`nullable`) to 2020-12. */
export function modernizeNode(node: JsonSchema): JsonSchema {
  return withDependencies(withTuple(withNull(node)))
}

function withNull(node: JsonSchema): JsonSchema {
  if (node.nullable !== true || node.type === undefined) return node
  return { ...omit(node, 'nullable'), type: [...new Set([node.type, 'null'].flat())] }
}

function withTuple(node: JsonSchema): JsonSchema {
  if (!Array.isArray(node.items)) return node
  const rest = 'additionalItems' in node ? { items: node.additionalItems } : {}
  return { ...omit(node, 'items', 'additionalItems'), prefixItems: node.items, ...rest }
}

function withDependencies(node: JsonSchema): JsonSchema {
  if (!isObject(node.dependencies)) return node
  const entries = Object.entries(node.dependencies)
  const names = entries.filter(([, needed]) => Array.isArray(needed))
  const schemas = entries.filter(([, needed]) => !Array.isArray(needed))
  return {
    ...omit(node, 'dependencies'),
    ...(names.length > 0 ? { dependentRequired: Object.fromEntries(names) } : {}),
    ...(schemas.length > 0 ? { dependentSchemas: Object.fromEntries(schemas) } : {}),
  }
}
