import type { JsonSchema } from '../contract/input-schema.ts'
import type { LlmFormat, Loss } from '../contract/llm.ts'
import { CompileState } from './compile-state.ts'
import { SchemaConverter } from './convert-schema.ts'
import { dialects, type ProviderDialect } from './dialects.ts'
import { fitsStrict } from './fits-strict.ts'
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
export function compileDefinition(stored: JsonSchema, format: LlmFormat): CompiledSchema {
  if (format === 'mcp' && mayBeObject(stored) && isWithinLimits(stored)) {
    const losses = allowsOthers(stored) ? [{ pointer: '/type', lost: 'type', why: onlyObjects }] : []
    return { schema: { ...structuredClone(stored), type: 'object' }, losses, isWrapped: false, isStrict: false }
  }
  if (format !== 'openai') return { ...convertWith(stored, dialects[format]), isStrict: false }
  const strict = convertWith(stored, dialects.openaiStrict)
  if (strict.losses.length === 0 && fitsStrict(strict.schema)) return { ...strict, isStrict: true }
  return { ...convertWith(stored, dialects.openai), isStrict: false }
}

function convertWith(stored: JsonSchema, dialect: ProviderDialect): Omit<CompiledSchema, 'isStrict'> {
  const state = new CompileState(stored, dialect)
  const root = shapeRoot(state)
  const converter = new SchemaConverter(state)
  const schema = converter.convert(root.node, root.path, state.root)
  const parts = converter.definitions()
  const whole = Object.keys(parts).length > 0 ? { ...schema, $defs: parts } : schema
  return { schema: withProperties(whole), losses: state.losses, isWrapped: root.isWrapped }
}

/** Some providers reject an object schema without `properties`. */
const withProperties = (schema: JsonSchema) => ({ ...schema, type: 'object', properties: schema.properties ?? {} })
