import { asserting, type Dialect, keywords } from './keywords.ts'
import type { ReadSchema } from './read-schema.ts'
import type { RefTargets } from './resolve-refs.ts'
import { isSchemaObject, type SchemaObject } from './walk-schema.ts'

type Built = Record<string, unknown> | boolean

/**
 * A schema of either dialect normalized to 2020-12 with known keywords only; each target of a ref is under `$defs` once
 * and spends a step each time it is followed.
 */
export interface BuiltSchema {
  readonly root: Built
  readonly defs: Readonly<Record<string, Built>>
}

/** Normalizes a schema without problems to the form that is compiled. */
export function buildSchema({ schema, dialect, targets, pointers }: ReadSchema): BuiltSchema {
  const builder = new Builder(dialect, targets)
  const defs: Record<string, Built> = {}
  for (const [target, name] of builder.names) {
    const built = builder.buildTarget(target)
    // Beside the other keywords it would not be evaluated if one of them fails; before them it always is.
    defs[name] = typeof built === 'boolean' ? built : { allOf: [{ spendStep: pointers.get(target) ?? '#' }, built] }
  }
  return { root: builder.build(schema), defs }
}

class Builder {
  readonly names = new Map<SchemaObject | boolean, string>()
  readonly #dialect: Dialect
  readonly #targets: RefTargets

  constructor(dialect: Dialect, targets: RefTargets) {
    this.#dialect = dialect
    this.#targets = targets
    for (const refs of targets.values())
      for (const target of refs.values()) if (!this.names.has(target)) this.names.set(target, `r${this.names.size}`)
  }

  /** The schema itself, or a ref to it if it is the target of refs. */
  build(schema: unknown): Built {
    if (!isSchemaObject(schema)) return schema !== false
    const name = this.names.get(schema)
    if (name === undefined) return this.buildTarget(schema)
    const { default: defaultValue } = schema
    return { $ref: `#/$defs/${name}`, ...(defaultValue === undefined ? {} : { default: defaultValue }) }
  }

  buildTarget(schema: SchemaObject | boolean): Built {
    if (typeof schema === 'boolean') return schema
    const built: Record<string, unknown> = {}
    const refs = [...(this.#targets.get(schema)?.values() ?? [])].map((target) => `#/$defs/${this.names.get(target)}`)
    // Draft-07 ignores all keywords beside a $ref.
    if (this.#dialect === 'draft-07' && refs.length > 0) return { $ref: refs[0] }
    for (const [word, value] of Object.entries(schema)) {
      if (asserting.has(word) && keywords[this.#dialect].has(word))
        Object.assign(built, this.#keyword(word, value, schema))
    }
    if (refs.length === 1) return { $ref: refs[0], ...built }
    return refs.length === 0 ? built : { ...built, allOf: [...list(built.allOf), ...refs.map(($ref) => ({ $ref }))] }
  }

  #keyword(word: string, value: unknown, parent: SchemaObject): Record<string, unknown> {
    if (word === 'items' && Array.isArray(value)) return { prefixItems: this.#all(value) }
    if (word === 'additionalItems') return Array.isArray(parent.items) ? { items: this.build(value) } : {}
    if (word === 'dependencies') return this.#dependencies(value as SchemaObject)
    const kind = keywords[this.#dialect].get(word)
    if (kind === 'schema' || kind === 'items') return { [word]: this.build(value) }
    if (kind === 'schemas') return { [word]: this.#all(value as unknown[]) }
    if (kind === 'schema map' || kind === 'pattern map') return { [word]: this.#map(value as SchemaObject) }
    return { [word]: value }
  }

  #all = (schemas: readonly unknown[]) => schemas.map((schema) => this.build(schema))

  #map = (schemas: SchemaObject) =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.build(schema)]))

  #dependencies(value: SchemaObject): Record<string, unknown> {
    const entries = Object.entries(value)
    return {
      dependentRequired: Object.fromEntries(entries.filter(([, dependency]) => Array.isArray(dependency))),
      dependentSchemas: this.#map(Object.fromEntries(entries.filter(([, dependency]) => !Array.isArray(dependency)))),
    }
  }
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
