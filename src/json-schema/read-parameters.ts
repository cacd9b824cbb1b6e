import { isObject, type JsonObject, textsOf } from '../base/json-values.ts'
import { SchemaDocument } from './schema-document.ts'
import { declaredTypes, listedValues, typeOfValue } from './value-types.ts'

/** The value that is inserted into calls without a parameter, and its JSON pointer in the stored schema. */
interface ParameterDefault {
  readonly value: unknown
  readonly pointer: string
}

/** The parameters of an input schema, as far as they can be derived, behind refs too. */
export interface SchemaParameters {
  /** The names that any branch of the schema declares. */
  readonly names: ReadonlySet<string>
  /** Whether a branch explicitly accepts other names. */
  readonly isOpen: boolean
  readonly required: ReadonlySet<string>
  /** The properties that are not part of alternatives, each with the keywords behind its refs and `allOf`. */
  readonly properties: ReadonlyMap<string, JsonObject>
  readonly defaults: ReadonlyMap<string, ParameterDefault>
  readonly types: ReadonlyMap<string, readonly string[]>
}

/** Keywords whose schemas may declare parameters. */
export const branches: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas']

/** Reads the parameters of an input schema. */
export function readSchemaParameters(schema: unknown): SchemaParameters {
  const document = new SchemaDocument(schema)
  const always = [...document.together(document.root)]
  const all = [...document.together(document.root, branches)]
  const properties = new Map<string, JsonObject>()
  const defaults = new Map<string, ParameterDefault>()
  const types = new Map<string, readonly string[]>()
  for (const [name, property] of always.flatMap(propertiesOf)) {
    const parts = [...document.together(property)]
    properties.set(name, Object.assign({}, ...parts.toReversed(), properties.get(name)))
    const part = document.withDefault(property)
    const pointer = `${document.find(part)?.pointer ?? ''}/default`
    if (part !== undefined && !defaults.has(name)) defaults.set(name, { value: part.default, pointer })
    const found = typesOf(document, parts)
    if (found.length > 0 && !types.has(name)) types.set(name, found)
  }
  return {
    names: new Set(all.flatMap(propertiesOf).map(([name]) => name)),
    isOpen: all.some((part) => (part.additionalProperties ?? false) !== false || part.patternProperties !== undefined),
    required: new Set(always.flatMap(({ required }) => textsOf(required))),
    properties,
    defaults,
    types,
  }
}

/** The named properties of a schema. */
export const propertiesOf = ({ properties }: JsonObject): readonly [string, unknown][] =>
  isObject(properties) ? Object.entries(properties) : []

/** The types of a property, or of its alternatives or listed values if it has no type itself. */
function typesOf(document: SchemaDocument, parts: readonly JsonObject[]): readonly string[] {
  const alternatives = parts.flatMap((part) => [part.anyOf, part.oneOf].flat())
  const found = [
    () => parts.flatMap((part) => declaredTypes(part) ?? []),
    () => alternatives.flatMap((part) => [...document.together(part)].flatMap((each) => declaredTypes(each) ?? [])),
    () => parts.flatMap((part) => listedValues(part) ?? []).map(typeOfValue),
  ]
  for (const find of found) {
    const types = find()
    if (types.length > 0) return [...new Set(types)]
  }
  return []
}
