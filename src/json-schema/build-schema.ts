import { asserting, type Dialect, keywords } from './keywords.ts'
import type { ReadSchema } from './read-schema.ts'
import type { RefTargets } from './resolve-refs.ts'
import { isSchemaObject, type SchemaObject } from './walk-schema.ts'

type Made = Record<string, unknown> | boolean

/**
 * A schema in one form whatever it was written in: 2020-12 with known keywords only, where everything a ref leads to stands
 * once under `$defs` and spends a step each time it is followed.
 */
export interface BuiltSchema {
  readonly root: Made
  readonly defs: Readonly<Record<string, Made>>
}

/** Puts a schema without problems into the one form that is compiled. */
export function buildSchema({ schema, dialect, targets, pointers }: ReadSchema): BuiltSchema {
  const builder = new Builder(dialect, targets)
  const defs: Record<string, Made> = {}
  for (const [target, name] of builder.names) {
    const made = builder.inside(target)
    // Beside the others it would not be reached where one of them fails; in front of them it is.
    defs[name] = typeof made === 'boolean' ? made : { allOf: [{ spendStep: pointers.get(target) ?? '#' }, made] }
  }
  return { root: builder.place(schema), defs }
}

class Builder {
  readonly names = new Map<SchemaObject | boolean, string>()
  readonly #dialect: Dialect
  readonly #targets: RefTargets

  constructor(dialect: Dialect, targets: RefTargets) {
    this.#dialect = dialect
    this.#targets = targets
    for (const held of targets.values())
      for (const target of held.values()) if (!this.names.has(target)) this.names.set(target, `r${this.names.size}`)
  }

  /** The schema where it stands: itself, or a ref when others lead to it too. */
  place(schema: unknown): Made {
    if (!isSchemaObject(schema)) return schema !== false
    const name = this.names.get(schema)
    if (name === undefined) return this.inside(schema)
    const { default: standard } = schema
    return { $ref: `#/$defs/${name}`, ...(standard === undefined ? {} : { default: standard }) }
  }

  inside(schema: SchemaObject | boolean): Made {
    if (typeof schema === 'boolean') return schema
    const made: Record<string, unknown> = {}
    const refs = [...(this.#targets.get(schema)?.values() ?? [])].map((target) => `#/$defs/${this.names.get(target)}`)
    // Beside a $ref, draft-07 hears nothing else.
    if (this.#dialect === 'draft-07' && refs.length > 0) return { $ref: refs[0] }
    for (const [word, value] of Object.entries(schema)) {
      if (asserting.has(word) && keywords[this.#dialect].has(word))
        Object.assign(made, this.#keyword(word, value, schema))
    }
    if (refs.length === 1) return { $ref: refs[0], ...made }
    return refs.length === 0 ? made : { ...made, allOf: [...list(made.allOf), ...refs.map(($ref) => ({ $ref }))] }
  }

  #keyword(word: string, value: unknown, around: SchemaObject): Record<string, unknown> {
    if (word === 'items' && Array.isArray(value)) return { prefixItems: this.#all(value) }
    if (word === 'additionalItems') return Array.isArray(around.items) ? { items: this.place(value) } : {}
    if (word === 'dependencies') return this.#dependencies(value as SchemaObject)
    const kind = keywords[this.#dialect].get(word)
    if (kind === 'schema' || kind === 'items') return { [word]: this.place(value) }
    if (kind === 'schemas') return { [word]: this.#all(value as unknown[]) }
    if (kind === 'schema map' || kind === 'pattern map') return { [word]: this.#map(value as SchemaObject) }
    return { [word]: value }
  }

  #all = (schemas: readonly unknown[]) => schemas.map((schema) => this.place(schema))

  #map = (schemas: SchemaObject) =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.place(schema)]))

  #dependencies(value: SchemaObject): Record<string, unknown> {
    const entries = Object.entries(value)
    return {
      dependentRequired: Object.fromEntries(entries.filter(([, held]) => Array.isArray(held))),
      dependentSchemas: this.#map(Object.fromEntries(entries.filter(([, held]) => !Array.isArray(held)))),
    }
  }
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
