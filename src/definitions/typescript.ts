import { isObject, type JsonObject, listOf, textsOf } from '../base/json-values.ts'
import { SchemaDocument } from '../json-schema/schema-document.ts'
import { cutText } from '../rules/cut-text.ts'

/** Limits of the types of one tool; the parts beyond them are `unknown`. */
export const typeLimits = { schemas: 500, characters: 20_000, depth: 15, literals: 100, subschemas: 2000 } as const

/** The position of a type: its nesting, and whether the type of its alias would contain itself without a level between. */
interface Position {
  readonly depth: number
  readonly inPlace: boolean
}

/** Writes the TypeScript types of one JSON Schema; targets of refs become aliases, so that recursive schemas are types, too. */
class TypeWriter {
  readonly #document: SchemaDocument
  readonly #prefix: string
  readonly #aliases = new Map<JsonObject, string>()
  readonly #waiting: JsonObject[] = []
  /** The aliases that each alias is a part of at the same level; a cycle of those is an error in TypeScript. */
  readonly #inPlace = new Map<JsonObject, Set<JsonObject>>()
  #owner: JsonObject
  #schemas = 0
  #characters = 0

  /** Names of aliases begin with the prefix, so that those of several tools do not collide. */
  constructor(schema: unknown, prefix: string) {
    this.#document = new SchemaDocument(schema, typeLimits.subschemas)
    this.#prefix = prefix
    const { root } = this.#document
    this.#owner = isObject(root) ? root : {}
  }

  /** The type of the whole schema. */
  write(): string {
    return this.#typeOf(this.#document.root, { depth: 0, inPlace: true })
  }

  /** The declarations of the aliases that the written types use. */
  writeAliases(): string[] {
    const declared: string[] = []
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#owner = next
      declared.push(`type ${this.#aliases.get(next)} = ${this.#typeOf(next, { depth: 0, inPlace: true })}`)
    }
    return declared
  }

  #typeOf(schema: unknown, at: Position): string {
    if (!isObject(schema)) return schema === false ? 'never' : 'unknown'
    this.#schemas += 1
    if (this.#isSpent() || at.depth > typeLimits.depth) return 'unknown'
    const parts = [
      this.#refType(schema, at),
      this.#ownType(schema, at),
      ...listOf(schema.allOf).map((part) => this.#typeOf(part, at)),
      this.#unionOf(schema.anyOf, at),
      this.#unionOf(schema.oneOf, at),
    ]
    return intersectionOf(parts)
  }

  #unionOf(alternatives: unknown, at: Position): string {
    const list = listOf(alternatives)
    return list.length === 0 ? 'unknown' : unionOf(list.map((part) => this.#typeOf(part, at)))
  }

  #refType({ $ref }: JsonObject, at: Position): string {
    const target = this.#document.target($ref)
    if (!isObject(target)) return target === false ? 'never' : 'unknown'
    if (at.inPlace) {
      if (this.#reaches(target, this.#owner)) return 'unknown'
      this.#inPlace.set(this.#owner, (this.#inPlace.get(this.#owner) ?? new Set()).add(target))
    }
    const known = this.#aliases.get(target)
    if (known !== undefined) return known
    const alias = this.#newAlias(String($ref))
    this.#aliases.set(target, alias)
    this.#waiting.push(target)
    return this.#spend(alias)
  }

  /** Whether a type is, or is at the same level a part of, another. */
  #reaches(from: JsonObject, to: JsonObject): boolean {
    const seen = new Set([from])
    // The set grows during the loop.
    for (const each of seen) {
      if (each === to) return true
      for (const next of this.#inPlace.get(each) ?? []) seen.add(next)
    }
    return false
  }

  #newAlias(ref: string): string {
    const last = ref.split(/[/#]/).at(-1) ?? ''
    const base = `${this.#prefix}${pascalCase(last) || 'Value'}`
    const taken = new Set(this.#aliases.values())
    let name = base
    for (let count = 2; taken.has(name); count += 1) name = `${base}${count}`
    return name
  }

  /** The type of the keywords of a schema itself, without those that combine schemas. */
  #ownType(schema: JsonObject, at: Position): string {
    if ('const' in schema) return this.#spend(literalOf(schema.const))
    if (Array.isArray(schema.enum)) return this.#enumType(schema.enum)
    const types = typeof schema.type === 'string' ? [schema.type] : textsOf(schema.type)
    if (types.length > 0) return unionOf(types.map((type) => this.#namedType(type, schema, at)))
    if (hasAny(schema, ['properties', 'required', 'additionalProperties', 'patternProperties']))
      return isObject(schema.properties) ? this.#objectType(schema, at) : 'unknown'
    return hasAny(schema, ['items', 'prefixItems']) ? this.#arrayType(schema, at) : 'unknown'
  }

  #enumType(values: readonly unknown[]): string {
    const shown = values.slice(0, typeLimits.literals).map((value) => this.#spend(literalOf(value)))
    if (values.length > shown.length && values.every((value) => typeof value === 'string')) shown.push('(string & {})')
    else if (values.length > shown.length) return 'unknown'
    return unionOf(shown)
  }

  #namedType(type: string, schema: JsonObject, at: Position): string {
    if (type === 'object') return this.#objectType(schema, at)
    if (type === 'array') return this.#arrayType(schema, at)
    if (type === 'integer') return 'number'
    return ['string', 'number', 'boolean', 'null'].includes(type) ? type : 'unknown'
  }

  #objectType(schema: JsonObject, at: Position): string {
    const inside = { depth: at.depth + 1, inPlace: false }
    const properties = isObject(schema.properties) ? schema.properties : {}
    const required = new Set(textsOf(schema.required))
    const names = [...new Set([...Object.keys(properties), ...required])]
    const lines: string[] = []
    for (const name of names) {
      if (this.#isSpent()) break
      const property = properties[name]
      const key = this.#spend(`${typeDoc(property)}${keyOf(name)}${required.has(name) ? '' : '?'}`)
      lines.push(`${key}: ${this.#typeOf(property, inside)}`)
    }
    const isCut = lines.length < names.length
    const others = isCut ? 'unknown' : this.#othersType(schema, names.length > 0, inside)
    if (others !== undefined) lines.push(`[key: string]: ${others}`)
    if (lines.length === 0) return '{ [key: string]: unknown }'
    return `{\n${lines.map(indent).join('\n')}\n}`
  }

  /** The type of further properties, which must include that of every property; undefined where only the known ones are shown. */
  #othersType(schema: JsonObject, hasProperties: boolean, at: Position): string | undefined {
    const { additionalProperties, patternProperties } = schema
    const others = [
      ...(isObject(additionalProperties) ? [additionalProperties] : []),
      ...(isObject(patternProperties) ? Object.values(patternProperties) : []),
    ]
    if (others.length === 0 && additionalProperties === false && !hasProperties) return 'never'
    if (others.length === 0) return undefined
    return hasProperties ? 'unknown' : unionOf(others.map((part) => this.#typeOf(part, at)))
  }

  #arrayType(schema: JsonObject, at: Position): string {
    const inside = { depth: at.depth + 1, inPlace: false }
    const { prefixItems, items, minItems } = schema
    const first = listOf(prefixItems).slice(0, typeLimits.literals)
    const rest = items === undefined ? 'unknown' : this.#typeOf(items, inside)
    if (first.length === 0) return arrayOf(rest)
    const isFull = typeof minItems === 'number' && minItems >= first.length
    const types = first.map((part) => `${isFull ? '' : '('}${this.#typeOf(part, inside)}${isFull ? '' : ')?'}`)
    return `[${[...types, ...(items === false ? [] : [`...${arrayOf(rest)}`])].join(', ')}]`
  }

  #isSpent(): boolean {
    return this.#schemas > typeLimits.schemas || this.#characters > typeLimits.characters
  }

  #spend(text: string): string {
    this.#characters += text.length
    return text
  }
}

const hasAny = (schema: JsonObject, keys: readonly string[]) => keys.some((key) => key in schema)

/** A union without repetitions; parts that say nothing make it unknown. */
function unionOf(types: readonly string[]): string {
  const parts = [...new Set(types)].filter((type) => type !== 'never')
  if (parts.includes('unknown')) return 'unknown'
  return parts.length === 0 ? 'never' : parts.join(' | ')
}

/** An intersection without the parts that say nothing. */
function intersectionOf(types: readonly string[]): string {
  const parts = [...new Set(types)].filter((type) => type !== 'unknown')
  if (parts.includes('never')) return 'never'
  if (parts.length === 0) return 'unknown'
  return parts.length === 1 ? (parts[0] as string) : parts.map((type) => `(${type})`).join(' & ')
}

const arrayOf = (type: string): string => (/^\w+$/.test(type) ? `${type}[]` : `Array<${type}>`)

/** A property name, in quotes where it is not an identifier. */
export const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literalOf(name))

export const indent = (text: string): string => text.replaceAll(/^/gm, '  ')

/** A name for types: `get-weather` becomes `GetWeather`. */
function pascalCase(name: string): string {
  const words = name.match(/[A-Za-z0-9]+/g) ?? []
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return (/^\d/.test(joined) ? `_${joined}` : joined).slice(0, 50)
}

const maxDescription = 500

/** The parts of a tool that its declaration states. */
export interface DeclaredTool {
  /** The name to call it by. */
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  readonly outputSchema?: unknown
  /** Whether it returns the printed text where it has no output schema. */
  readonly returnsText: boolean
}

/** The TypeScript declaration of a tool as a method of `tools`; interfaces of several tools merge. */
export function declareInTypeScript(tool: DeclaredTool): string {
  const { name, description, inputSchema, outputSchema, returnsText } = tool
  const prefix = pascalCase(name) || 'Tool'
  const input = new TypeWriter(inputSchema, prefix)
  const output = new TypeWriter(outputSchema ?? true, `${prefix}Result`)
  const optional = isObject(inputSchema) && textsOf(inputSchema.required).length === 0 ? '?' : ''
  const result = outputSchema === undefined && returnsText ? 'string' : output.write()
  const method = `${keyOf(name)}(input${optional}: ${input.write()}): Promise<${result}>`
  const lines = [commentOf(cutText(description, maxDescription)), method].map(indent)
  const aliases = [...input.writeAliases(), ...output.writeAliases()]
  return [...aliases, `interface Tools {\n${lines.join('\n')}\n}`].join('\n')
}

const maxDoc = 300
const maxFact = 60

/** The literal type of a JSON value; objects and arrays have no literal types. */
function literalOf(value: unknown): string {
  if (Array.isArray(value)) return 'Array<unknown>'
  if (isObject(value)) return '{ [key: string]: unknown }'
  // Both are line ends to TypeScript, but not to JSON.
  return (JSON.stringify(value) ?? 'unknown').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** The comment of a property, on a line of its own: its description, default and bounds; empty where it has none. */
function typeDoc(schema: unknown): string {
  if (!isObject(schema)) return ''
  const text = typeof schema.description === 'string' ? cutText(toLine(schema.description), maxDoc) : ''
  const facts = factsOf(schema)
  const sentences = [text, facts.length === 0 ? '' : `(${facts.join(', ')})`].filter((part) => part !== '')
  return sentences.length === 0 ? '' : `${commentOf(sentences.join(' '))}\n`
}

/** A comment that a text cannot end. */
export const commentOf = (text: string): string => `/** ${toLine(text).replaceAll('*/', '*\\/')} */`

const toLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** The facts that a type cannot express. */
function factsOf(schema: Readonly<Record<string, unknown>>): string[] {
  const words = ['default', 'format', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern']
  return words.flatMap((word) => {
    const value = schema[word]
    const fact = value === undefined ? undefined : JSON.stringify(value)
    return fact === undefined || fact.length > maxFact ? [] : [`${word} ${fact}`]
  })
}
