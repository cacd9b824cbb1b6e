import { isObject, type JsonObject, sameJson } from '../../base/json-values.ts'
import { branches, propertiesOf } from '../../json-schema/read-parameters.ts'
import { SchemaDocument } from '../../json-schema/schema-document.ts'
import { declaredTypes, isOfType } from '../../json-schema/value-types.ts'
import type { LintFinding, LintTool } from './finding.ts'

interface Flaw {
  readonly broken: boolean
  readonly message: string
}

const limits = { depth: 8, schemas: 5000 }
const bounds = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const

/** Input schemas that no arguments satisfy, or that contradict themselves. */
export function lintSchema({ toolName: tool, inputSchema }: LintTool): readonly LintFinding[] {
  return findFlaws(inputSchema).map(({ broken, message }): LintFinding => {
    const hint = broken ? 'Fix it: no call that passes it can succeed.' : 'Fix it: a model will be misled.'
    return broken
      ? { rule: 'broken-schema', severity: 'error', tool, message, hint }
      : { rule: 'suspicious-schema', severity: 'warning', tool, message, hint }
  })
}

/** The flaws of a schema and of those inside it, each by the first path that leads to it within the limits. */
function findFlaws(inputSchema: unknown): readonly Flaw[] {
  const document = new SchemaDocument(inputSchema)
  const found = new Map<string, Flaw>()
  let visited = 0
  const visit = (schema: unknown, path: string, depth: number): void => {
    if (depth > limits.depth || ++visited > limits.schemas) return
    // With the targets of refs and the members of allOf, which constrain the same value.
    const parts = [...document.together(schema)]
    const isFalse = schema === false || parts.some((part) => document.target(part.$ref) === false)
    const flaws = isFalse
      ? [{ broken: true, message: `${name(path)} allows no value` }]
      : ownFlaws(document, parts, path)
    for (const flaw of flaws) if (!found.has(flaw.message)) found.set(flaw.message, flaw)
    for (const part of parts) {
      for (const [key, value] of propertiesOf(part)) visit(value, path === '' ? key : `${path}.${key}`, depth + 1)
      const first: readonly unknown[] = Array.isArray(part.prefixItems) ? part.prefixItems : []
      for (const [index, value] of first.entries()) visit(value, `${path}[${index}]`, depth + 1)
      if (part.items !== undefined && first.length === 0) visit(part.items, `${path}[]`, depth + 1)
    }
  }
  visit(document.root, '', 0)
  return [...found.values()]
}

const ownFlaws = (document: SchemaDocument, parts: readonly JsonObject[], path: string): readonly Flaw[] => [
  ...requiredFlaws(document, parts, path),
  ...enumFlaws(parts, path),
  ...boundFlaws(parts, path),
]

function requiredFlaws(document: SchemaDocument, parts: readonly JsonObject[], path: string): readonly Flaw[] {
  const required = new Set(parts.flatMap((part) => (Array.isArray(part.required) ? part.required : [])).map(String))
  if (required.size === 0) return []
  const all = parts.flatMap((part) => [...document.together(part, branches)])
  const defines = (part: JsonObject, key: string) =>
    part.patternProperties !== undefined || (isObject(part.properties) && Object.hasOwn(part.properties, key))
  return [...required].flatMap((key) => {
    const broken = parts.some((part) => part.additionalProperties === false && !defines(part, key))
    if (!broken && all.some((part) => defines(part, key))) return []
    return [{ broken, message: `${name(path)} requires '${key}', which it does not define` }]
  })
}

function enumFlaws(parts: readonly JsonObject[], path: string): readonly Flaw[] {
  const values = parts.map((part) => part.enum).find(Array.isArray)
  if (values === undefined) return []
  if (values.length === 0) return [{ broken: true, message: `${name(path)} has an empty enum` }]
  const types = parts.map(declaredTypes).find((declared) => declared !== undefined)
  if (types !== undefined && !values.some((value) => types.some((type) => isOfType(value, type)))) {
    const message = `${name(path)} is of type ${types.join(' or ')}, but no value of its enum is`
    return [{ broken: true, message }]
  }
  const value = parts.map((part) => part.default).find((each) => each !== undefined)
  if (value === undefined || values.some((each) => sameJson(each, value))) return []
  const message = `${name(path)} has the default ${JSON.stringify(value)}, which is not in its enum`
  return [{ broken: false, message }]
}

function boundFlaws(parts: readonly JsonObject[], path: string): readonly Flaw[] {
  const numbersOf = (word: string) => parts.map((part) => part[word]).filter((value) => typeof value === 'number')
  return bounds.flatMap(([minKeyword, maxKeyword]) => {
    const [min, max] = [Math.max(...numbersOf(minKeyword)), Math.min(...numbersOf(maxKeyword))]
    if (min <= max) return []
    return [{ broken: true, message: `${name(path)} has a ${minKeyword} of ${min} above its ${maxKeyword} of ${max}` }]
  })
}

const name = (path: string): string => (path === '' ? 'the input' : `'${path}'`)
