import { isObject, type JsonObject } from '../../../src/base/json-values.ts'

const texts: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  uri: 'https://example.com/x',
  email: 'ann@example.com',
  uuid: '6b0c5c5e-0f0a-4f0e-8c52-0d1c4bfb1d55',
}

/** A value that a schema describes: all required fields, and some optional ones near the root. */
export function makeSample(schema: unknown, root: JsonObject, depth = 0): unknown {
  if (!isObject(schema)) return 'text'
  if (typeof schema.$ref === 'string') return makeSample(followPointer(root, schema.$ref), root, depth + 1)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum.find((value) => value !== null)
  const [choice] = [schema.oneOf, schema.anyOf].find(Array.isArray) ?? []
  if (choice !== undefined && schema.properties === undefined) return makeSample(choice, root, depth + 1)
  if (Array.isArray(schema.allOf) && schema.properties === undefined)
    return mergeParts(schema.allOf.map((part) => makeSample(part, root, depth + 1)))
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type
  if (type === 'object' || isObject(schema.properties)) return makeObject(schema, root, depth)
  if (type === 'array')
    return Array.from({ length: Math.max(Number(schema.minItems ?? 1), 1) }, () =>
      makeSample(schema.items, root, depth + 1),
    )
  if (type === 'integer' || type === 'number') return Number(schema.minimum ?? Math.min(2, Number(schema.maximum ?? 2)))
  if (type === 'boolean') return true
  const text = texts[String(schema.format)] ?? 'a b&c'
  return text.padEnd(Number(schema.minLength ?? 0), 'x').slice(0, Number(schema.maxLength ?? 1000))
}

function makeObject(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const optional =
    depth > 0
      ? []
      : Object.keys(properties)
          .filter((name) => !required.includes(name))
          .slice(0, 3)
  return Object.fromEntries(
    [...required, ...optional].map((name) => [name, makeSample(properties[String(name)], root, depth + 1)]),
  )
}

const mergeParts = (parts: readonly unknown[]): unknown =>
  parts.every(isObject) ? Object.assign({}, ...parts) : parts[0]

/** The part of a document at a local reference. */
export function followPointer(root: JsonObject, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, part) => (isObject(value) ? value[part] : undefined), root)
}
