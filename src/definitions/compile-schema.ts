import { isObject, listOf, textsOf } from '../base/json-values.ts'
import type { LlmFormat, Loss } from '../contract/llm.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { CompileState } from './compile-state.ts'
import { SchemaConverter } from './convert-schema.ts'
import { dialects, type ProviderDialect } from './dialects.ts'
import { allowsOthers, isWithinLimits, mayBeObject, onlyObjects, shapeRoot } from './shape-root.ts'

/** The schema of a tool's arguments in the dialect of a provider. */
export interface CompiledSchema {
  readonly schema: JsonSchema
  readonly losses: Loss[]
  readonly isWrapped: boolean
  /** Whether the provider can enforce it without a loss. */
  readonly isStrict: boolean
}

/** Compiles a stored input schema for a provider; a loss accepts more values than the stored schema, or its reason states that it accepts fewer. */
export function compileDefinition(stored: JsonSchema, format: LlmFormat, maxWork?: number): CompiledSchema {
  if (format === 'mcp' && mayBeObject(stored) && isWithinLimits(stored)) {
    const losses = allowsOthers(stored) ? [{ pointer: '/type', lost: 'type', why: onlyObjects }] : []
    return { schema: { ...structuredClone(stored), type: 'object' }, losses, isWrapped: false, isStrict: false }
  }
  if (format !== 'openai') return { ...convertWith(stored, dialects[format], maxWork), isStrict: false }
  const strict = convertWith(stored, dialects.openaiStrict, maxWork)
  if (strict.losses.length === 0 && fitsStrict(strict.schema)) return { ...strict, isStrict: true }
  return { ...convertWith(stored, dialects.openai, maxWork), isStrict: false }
}

function convertWith(
  stored: JsonSchema,
  dialect: ProviderDialect,
  maxWork: number | undefined,
): Omit<CompiledSchema, 'isStrict'> {
  const state = new CompileState(stored, dialect, maxWork)
  const root = shapeRoot(state)
  const converter = new SchemaConverter(state)
  const schema = converter.convert(root.node, root.path, state.root)
  const parts = converter.definitions()
  const whole = Object.keys(parts).length > 0 ? { ...schema, $defs: parts } : schema
  return { schema: withProperties(whole), losses: state.losses, isWrapped: root.isWrapped }
}

/** Some providers reject an object schema without `properties`. */
const withProperties = (schema: JsonSchema) => ({ ...schema, type: 'object', properties: schema.properties ?? {} })

const formats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
const limits = { depth: 10, properties: 5000, values: 1000 }

interface Count {
  properties: number
  values: number
}

/** Whether OpenAI can enforce a schema in strict mode: all objects closed, all properties required, all types explicit. */
function fitsStrict(root: JsonSchema): boolean {
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
