import { isObject, type JsonObject, listOf } from '../../../base/json-values.ts'
import type { SchemaCollector } from './closed-schema.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts'

/** The parts of a request that come from parameters. */
interface ParameterParts {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly styles: Readonly<Record<string, { style: string; explode?: boolean }>>
  /** The values of examples, by the names of the input. */
  readonly examples: Readonly<Record<string, unknown>>
  readonly losses: readonly string[]
}

interface Sources {
  readonly document: OpenApiDocument
  readonly collector: SchemaCollector
  readonly input: HttpToolInput
}

// OpenAPI leaves these to the content types and the security schemes.
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization'])
const defaultStyles: Readonly<Record<string, string>> = { path: 'simple', header: 'simple', query: 'form' }

/** Adds the parameters of an operation to the input and places them in the request. */
export function readOperationParameters(
  operation: OpenApiOperation,
  { document, collector, input }: Sources,
): ParameterParts {
  const query: Record<string, string> = {}
  const headers: Record<string, string> = {}
  const styles: Record<string, { style: string; explode?: boolean }> = {}
  const examples: Record<string, unknown> = {}
  const losses: string[] = []
  const pathNames = new Map<string, string>()
  for (const parameter of parametersOf(operation, document)) {
    const { name, in: place } = parameter as { name: string; in: string }
    if (place === 'header' && ignoredHeaders.has(name.toLowerCase())) continue
    if (!Object.hasOwn(defaultStyles, place)) {
      losses.push(`the ${place} parameter '${name}' is left out`)
      continue
    }
    const { schema, isJson } = schemaOf(parameter, document)
    const copied = withSchemaSentence(collector.copy(schema), parameter.description, defaultOf(document.object(schema)))
    const safe = input.add(name, copied, { required: parameter.required === true || place === 'path', suffix: place })
    if (place === 'path') pathNames.set(name, safe)
    if (place === 'query') query[name] = `{${safe}}`
    if (place === 'header') headers[name] = `{${safe}}`
    const style = styleOf(parameter, defaultStyles[place] ?? 'form')
    if (!isJson && isNested(document.object(schema))) styles[safe] = style
    const [example] = examplesOfParameter(parameter, document)
    if (example !== undefined) examples[safe] = example
  }
  const path = fillPath(operation.path, pathNames, input, losses)
  return { path, query, headers, styles, examples, losses }
}

/** The parameters of the operation and of its path; the operation's own replace those of the path. */
function parametersOf({ operation, item }: OpenApiOperation, document: OpenApiDocument): readonly JsonObject[] {
  const found = new Map<string, JsonObject>()
  for (const each of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = document.object(each)
    if (typeof parameter.name === 'string' && typeof parameter.in === 'string')
      found.set(`${parameter.in} ${parameter.name}`, parameter)
  }
  return [...found.values()]
}

/** A parameter has a schema, or a media type with one, whose value is sent as JSON. */
function schemaOf({ schema, content }: JsonObject, document: OpenApiDocument): { schema: unknown; isJson: boolean } {
  if (schema !== undefined || !isObject(content)) return { schema, isJson: false }
  return { schema: document.object(Object.values(content)[0]).schema, isJson: true }
}

function styleOf({ style, explode }: JsonObject, preset: string): { style: string; explode?: boolean } {
  const known = typeof style === 'string' ? style : preset
  return { style: known, ...(typeof explode === 'boolean' ? { explode } : {}) }
}

/** Whether values may be arrays or objects, which the style of a parameter is for. */
const isNested = ({ type, properties, items, allOf, anyOf, oneOf }: JsonObject): boolean =>
  [type].flat().some((each) => each === 'array' || each === 'object') ||
  [properties, items, allOf, anyOf, oneOf].some((each) => each !== undefined)

/** The default as a sentence: the service applies it. */
const defaultOf = ({ default: value }: JsonObject): string | undefined =>
  value === undefined || typeof value === 'object' || value === '' ? undefined : `Default: ${String(value)}.`

/** The examples of a parameter or of a media type, and of its schema. */
export function examplesOfParameter(holder: JsonObject, document: OpenApiDocument): readonly unknown[] {
  const { examples, example, schema } = holder
  const named = isObject(examples)
    ? Object.values(examples).map((each) => document.object(each).value)
    : listOf(examples)
  const { examples: ofSchema, example: older } = document.object(schema)
  return [example, ...named, ...listOf(ofSchema), older].filter((each) => each !== undefined)
}

/** The path with the names of the input; a placeholder without a parameter becomes one. */
function fillPath(path: string, names: Map<string, string>, input: HttpToolInput, losses: string[]): string {
  const filled = path.replace(/\{([^{}]*)\}/g, (_, raw: string) => {
    const name = raw.replace(/^[+/#?&;.]|[*+?]$/g, '')
    const known = names.get(raw) ?? names.get(name)
    if (known !== undefined) return `{${known}}`
    const added = input.add(name, { type: 'string' }, { required: true, suffix: 'path' })
    names.set(raw, added)
    losses.push(`the path parameter '${name}' is not declared and is taken as a string`)
    return `{${added}}`
  })
  return filled.replaceAll('#', '%23').replaceAll(' ', '%20')
}

/** The input of a tool in the making: parameters with readable names, each used once. */
export class HttpToolInput {
  readonly #properties = new Map<string, JsonObject>()
  readonly #required = new Set<string>()

  /** Adds a parameter under its own name, or under one that all providers accept; returns the placeholder of its value. */
  add(name: string, schema: unknown, { required = false, suffix }: { required?: boolean; suffix: string }): string {
    const safe = this.#freeName(name, suffix)
    this.#properties.set(safe, isObject(schema) ? schema : {})
    if (required) this.#required.add(safe)
    return safe
  }

  get names(): ReadonlySet<string> {
    return new Set(this.#properties.keys())
  }

  schema(definitions: JsonObject): JsonObject {
    return {
      type: 'object',
      properties: Object.fromEntries(this.#properties),
      ...(this.#required.size === 0 ? {} : { required: [...this.#required] }),
      additionalProperties: false,
      ...definitions,
    }
  }

  /** The parameters by their types and descriptions only, for a schema that would be too large. */
  shallowSchema(): JsonObject {
    const shallow = ({ type, description, enum: values }: JsonObject) => ({
      ...(type === undefined ? {} : { type }),
      ...(values === undefined ? {} : { enum: values }),
      ...(description === undefined ? {} : { description }),
    })
    const properties = Object.fromEntries([...this.#properties].map(([name, schema]) => [name, shallow(schema)]))
    return { type: 'object', properties, ...(this.#required.size === 0 ? {} : { required: [...this.#required] }) }
  }

  get required(): ReadonlySet<string> {
    return this.#required
  }

  #freeName(name: string, suffix: string): string {
    const plain = name
      .replace(/[^\w.-]+/g, '_')
      .replace(/^[^A-Za-z_]+|_+$/g, '')
      .slice(0, 60)
    const safe = plain === '' || plain === '__proto__' ? 'value' : plain
    if (!this.#properties.has(safe)) return safe
    let free = `${safe}_${suffix}`
    for (let count = 2; this.#properties.has(free); count++) free = `${safe}_${suffix}_${count}`
    return free
  }
}

/** A schema with one more sentence in its description. */
export function withSchemaSentence(schema: unknown, ...sentences: readonly unknown[]): JsonObject {
  const own = isObject(schema) ? schema : {}
  const texts = [...sentences, own.description].filter((text): text is string => typeof text === 'string')
  const description = [...new Set(texts.map((text) => text.trim()))].filter((text) => text !== '').join(' ')
  return description === '' ? own : { ...own, description }
}
