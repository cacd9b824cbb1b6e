import { isObject, type JsonObject } from '../../../base/json-values.ts'

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
export function withSentence(schema: unknown, ...sentences: readonly unknown[]): JsonObject {
  const own = isObject(schema) ? schema : {}
  const texts = [...sentences, own.description].filter((text): text is string => typeof text === 'string')
  const description = [...new Set(texts.map((text) => text.trim()))].filter((text) => text !== '').join(' ')
  return description === '' ? own : { ...own, description }
}
