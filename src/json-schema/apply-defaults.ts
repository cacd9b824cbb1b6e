import { isObject, type JsonObject } from '../base/json-values.ts'
import type { WorkBudget } from '../base/work-budget.ts'
import type { BuiltSchema } from './build-schema.ts'
import { copyJson, NotJson, setOwn } from './copy-json.ts'
import { schemaLimits, stepCosts } from './limits.ts'

type Path = readonly PropertyKey[]

/** Inserts the defaults of a schema into a copied value, wherever the schema applies unconditionally. */
export function applyDefaults({ root, defs }: BuiltSchema, value: unknown, budget: WorkBudget): void {
  new Filler(defs, budget).fill(root, value, [])
}

class Filler {
  readonly #defs: BuiltSchema['defs']
  readonly #budget: WorkBudget
  #filled = 0

  constructor(defs: BuiltSchema['defs'], budget: WorkBudget) {
    this.#defs = defs
    this.#budget = budget
  }

  fill(schema: unknown, value: unknown, path: Path): void {
    if (!isObject(schema) || typeof value !== 'object' || value === null) return
    this.#budget.spend(stepCosts.visit, 'the defaults of the schema')
    if (path.length > schemaLimits.valueDepth) throw new NotJson(path.slice(0, 3), 'has endless defaults')
    if (typeof schema.$ref === 'string') this.fill(this.#defs[schema.$ref.slice('#/$defs/'.length)], value, path)
    if (Array.isArray(schema.allOf)) for (const part of schema.allOf) this.fill(part, value, path)
    if (Array.isArray(value)) this.#fillArray(schema, value, path)
    else this.#fillObject(schema, value as Record<string, unknown>, path)
  }

  #fillArray(schema: JsonObject, value: readonly unknown[], path: Path): void {
    const first: readonly unknown[] = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
    if (first.length === 0 && !isObject(schema.items)) return
    for (const [index, item] of value.entries()) {
      this.fill(index < first.length ? first[index] : schema.items, item, [...path, index])
    }
  }

  #fillObject(schema: JsonObject, value: Record<string, unknown>, path: Path): void {
    const properties = isObject(schema.properties) ? schema.properties : {}
    for (const [name, part] of Object.entries(properties)) {
      if (!isObject(part)) continue
      if (part.default !== undefined && !Object.hasOwn(value, name)) this.#put(value, name, part.default)
      if (Object.hasOwn(value, name)) this.fill(part, value[name], [...path, name])
    }
    if (!isObject(schema.additionalProperties)) return
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(properties, name)) this.fill(schema.additionalProperties, value[name], [...path, name])
    }
  }

  #put(value: Record<string, unknown>, name: string, defaultValue: unknown): void {
    if (++this.#filled > schemaLimits.defaults) throw new NotJson([], 'has endless defaults')
    setOwn(value, name, copyJson(defaultValue).value)
  }
}
