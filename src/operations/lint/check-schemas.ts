import type { JsonSchema } from '../../contract/input-schema.ts'
import type { LintFinding, LintTool } from './finding.ts'

interface Flaw {
  readonly broken: boolean
  readonly message: string
}

const deepest = 8
const bounds = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const

/** Input schemas that no arguments satisfy, or that contradict themselves. */
export function lintSchema({ toolName: tool, inputSchema }: LintTool): readonly LintFinding[] {
  return findFlaws(inputSchema, '', 0).map(({ broken, message }): LintFinding => {
    const hint = broken ? 'Fix it: no call that passes it can succeed.' : 'Fix it: a model will be misled.'
    return broken
      ? { rule: 'broken-schema', severity: 'error', tool, message, hint }
      : { rule: 'suspicious-schema', severity: 'warning', tool, message, hint }
  })
}

function findFlaws(schema: unknown, path: string, depth: number): readonly Flaw[] {
  if (schema === false) return [{ broken: true, message: `${name(path)} allows no value` }]
  if (typeof schema !== 'object' || schema === null || depth > deepest) return []
  const own = schema as JsonSchema
  const properties = Object.entries(isObject(own.properties) ? own.properties : {})
  return [
    ...requiredFlaws(own, path),
    ...enumFlaws(own, path),
    ...boundFlaws(own, path),
    ...properties.flatMap(([key, value]) => findFlaws(value, path === '' ? key : `${path}.${key}`, depth + 1)),
    ...(own.items === undefined ? [] : findFlaws(own.items, `${path}[]`, depth + 1)),
  ]
}

function requiredFlaws({ required, properties, additionalProperties }: JsonSchema, path: string): readonly Flaw[] {
  if (!Array.isArray(required)) return []
  const defined = isObject(properties) ? properties : {}
  const missing = required.filter((key) => typeof key !== 'string' || !Object.hasOwn(defined, key))
  const broken = additionalProperties === false
  return missing.map((key) => ({
    broken,
    message: `${name(path)} requires '${String(key)}', which it does not define`,
  }))
}

function enumFlaws({ enum: values, default: defaultValue, type }: JsonSchema, path: string): readonly Flaw[] {
  if (!Array.isArray(values)) return []
  if (values.length === 0) return [{ broken: true, message: `${name(path)} has an empty enum` }]
  if (typeof type === 'string' && !values.some((value) => isOfType(value, type))) {
    return [{ broken: true, message: `${name(path)} is of type ${type}, but no value of its enum is` }]
  }
  const same = (value: unknown) => JSON.stringify(value) === JSON.stringify(defaultValue)
  if (defaultValue === undefined || values.some(same)) return []
  return [
    {
      broken: false,
      message: `${name(path)} has the default ${JSON.stringify(defaultValue)}, which is not in its enum`,
    },
  ]
}

function boundFlaws(schema: JsonSchema, path: string): readonly Flaw[] {
  return bounds.flatMap(([minKeyword, maxKeyword]) => {
    const [min, max] = [schema[minKeyword], schema[maxKeyword]]
    if (typeof min !== 'number' || typeof max !== 'number' || min <= max) return []
    return [{ broken: true, message: `${name(path)} has a ${minKeyword} of ${min} above its ${maxKeyword} of ${max}` }]
  })
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return isObject(value)
  return ['string', 'number', 'boolean'].includes(type) ? typeof value === type : true
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const name = (path: string): string => (path === '' ? 'the input' : `'${path}'`)
