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

function findFlaws(schema: unknown, place: string, depth: number): readonly Flaw[] {
  if (schema === false) return [{ broken: true, message: `${name(place)} allows no value` }]
  if (typeof schema !== 'object' || schema === null || depth > deepest) return []
  const own = schema as JsonSchema
  const properties = Object.entries(isObject(own.properties) ? own.properties : {})
  return [
    ...requiredFlaws(own, place),
    ...enumFlaws(own, place),
    ...boundFlaws(own, place),
    ...properties.flatMap(([key, value]) => findFlaws(value, place === '' ? key : `${place}.${key}`, depth + 1)),
    ...(own.items === undefined ? [] : findFlaws(own.items, `${place}[]`, depth + 1)),
  ]
}

function requiredFlaws({ required, properties, additionalProperties }: JsonSchema, place: string): readonly Flaw[] {
  if (!Array.isArray(required)) return []
  const known = isObject(properties) ? properties : {}
  const missing = required.filter((key) => typeof key !== 'string' || !Object.hasOwn(known, key))
  const broken = additionalProperties === false
  return missing.map((key) => ({
    broken,
    message: `${name(place)} requires '${String(key)}', which it does not define`,
  }))
}

function enumFlaws({ enum: values, default: usual, type }: JsonSchema, place: string): readonly Flaw[] {
  if (!Array.isArray(values)) return []
  if (values.length === 0) return [{ broken: true, message: `${name(place)} has an empty enum` }]
  if (typeof type === 'string' && !values.some((value) => isOfType(value, type))) {
    return [{ broken: true, message: `${name(place)} is of type ${type}, but no value of its enum is` }]
  }
  const same = (value: unknown) => JSON.stringify(value) === JSON.stringify(usual)
  if (usual === undefined || values.some(same)) return []
  return [
    { broken: false, message: `${name(place)} has the default ${JSON.stringify(usual)}, which is not in its enum` },
  ]
}

function boundFlaws(schema: JsonSchema, place: string): readonly Flaw[] {
  return bounds.flatMap(([least, most]) => {
    const [low, high] = [schema[least], schema[most]]
    if (typeof low !== 'number' || typeof high !== 'number' || low <= high) return []
    return [{ broken: true, message: `${name(place)} has a ${least} of ${low} above its ${most} of ${high}` }]
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

const name = (place: string): string => (place === '' ? 'the input' : `'${place}'`)
