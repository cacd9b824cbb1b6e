import { createRequire } from 'node:module'
import type { ErrorObject, FuncKeywordDefinition, Options, ValidateFunction } from 'ajv'
import type * as Ajv2020 from 'ajv/dist/2020.js'
import { isObject, type JsonObject } from '../base/json-values.ts'
import { compileSearchPattern } from '../base/pattern.ts'
import { WorkBudget } from '../base/work-budget.ts'
import { asserting, containerOfKeyword } from './keywords.ts'
import { schemaLimits, stepCosts } from './limits.ts'
import type { SchemaDocument } from './schema-document.ts'

/** Loaded with the first validated value: most starts validate none. */
const loadAjv = (): typeof Ajv2020 => createRequire(import.meta.url)('ajv/dist/2020.js')

/** Returns the errors of a value; patterns and refs spend steps of the budget. */
export type SchemaCheck = (value: unknown, budget: WorkBudget) => readonly ErrorObject[]

const options: Options = {
  strict: false,
  // The input is a schema built from a checked one.
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  validateFormats: false,
  allowMatchingProperties: true,
  logger: false,
  ownProperties: true,
  inlineRefs: false,
  verbose: true,
}

/** Compiles a built schema; each has its own compiler, because a shared one would retain every compiled schema. */
export function compileBuilt({ root, defs }: BuiltSchema, allErrors: boolean): SchemaCheck {
  let budget = new WorkBudget(schemaLimits.steps)
  const searchPattern = (source: string) => {
    const pattern = compileSearchPattern(source)
    // Ajv deduplicates patterns by `toString`, so two patterns of one schema need different texts.
    return { test: (text: string) => pattern.test(text, budget), toString: () => source }
  }
  const regExp = Object.assign(searchPattern, { code: 'searchPattern' })
  // Optimizing the code takes three times as long as generating it, and is no faster for one value.
  const ajv = new (loadAjv().Ajv2020)({ ...options, allErrors, code: { regExp, optimize: false } })
  ajv.addKeyword({
    keyword: 'spendStep',
    schemaType: 'string',
    errors: false,
    validate: (pointer: string) => {
      budget.spend(stepCosts.ref, `the schema at ${pointer}`)
      return true
    },
  })
  for (const definition of exactKeywords) ajv.removeKeyword(definition.keyword).addKeyword(definition)
  const whole = typeof root === 'boolean' ? root : { ...root, $defs: defs }
  const validate: ValidateFunction = ajv.compile(whole)
  return (value, currentBudget) => {
    budget = currentBudget
    return validate(value) ? [] : (validate.errors ?? [])
  }
}

type Exact = FuncKeywordDefinition & { readonly keyword: string }

/**
 * Keywords that compare values by their canonical text: the comparison of ajv calls the properties `toString` or `valueOf` of a
 * value, needs quadratic time for `uniqueItems`, and rejects 0.3 as a multiple of 0.1.
 */
const exactKeywords: readonly Exact[] = [
  { keyword: 'const', errors: false, compile: (expected: unknown) => isOneOf([expected]) },
  { keyword: 'enum', schemaType: 'array', errors: false, compile: isOneOf },
  { keyword: 'multipleOf', type: 'number', schemaType: 'number', errors: false, compile: isMultipleOf },
  { keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', errors: false, compile: isUnique },
]

function isOneOf(expected: readonly unknown[]): (value: unknown) => boolean {
  const texts = new Set(expected.map(canonical))
  return (value) => texts.has(canonical(value))
}

function isUnique(expected: boolean): (items: readonly unknown[]) => boolean {
  return (items) => !expected || new Set(items.map(canonical)).size === items.length
}

function isMultipleOf(step: number): (value: number) => boolean {
  return (value) => {
    const times = value / step
    if (Number.isInteger(times)) return true
    // Steps such as 0.1 are not exact themselves, so the last digit of the quotient is not significant.
    return !Number.isInteger(step) && Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.abs(times)
  }
}

/** The same text for values that are equal in JSON Schema. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isObject(part)
      ? Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))
      : Array.isArray(part)
        ? ['list', ...part]
        : part,
  )

type Built = Record<string, unknown> | boolean

/** A schema with the keywords that are validated; each target of a ref is under `$defs` once and spends a step when it is followed. */
export interface BuiltSchema {
  readonly root: Built
  readonly defs: Readonly<Record<string, Built>>
}

/** The form of a schema without problems that is compiled. */
export function buildSchema(document: SchemaDocument): BuiltSchema {
  const builder = new Builder(document)
  const defs: Record<string, Built> = {}
  for (const [ref, target] of document.targets) {
    const built = typeof target === 'boolean' ? target : builder.buildTarget(target)
    const spendStep = `#${document.find(target)?.pointer ?? ''}`
    // Beside the other keywords it would not be evaluated if one of them fails; before them it always is.
    defs[nameOf(ref)] = typeof built === 'boolean' ? built : { allOf: [{ spendStep }, built] }
  }
  return { root: builder.build(document.root), defs }
}

const nameOf = (ref: unknown) => `r${String(ref).slice(1)}`
const toDef = (ref: unknown) => `#/$defs/${nameOf(ref)}`

class Builder {
  readonly #document: SchemaDocument
  readonly #refs: ReadonlyMap<unknown, string>

  constructor(document: SchemaDocument) {
    this.#document = document
    this.#refs = new Map([...document.targets].map(([ref, target]) => [target, ref]))
  }

  /** The schema itself, or a ref to it if it is the target of refs. */
  build(node: unknown): Built {
    if (!isObject(node)) return node !== false
    const ref = this.#refs.get(node)
    if (ref === undefined) return this.buildTarget(node)
    return this.#withDefault({ $ref: toDef(ref) }, node)
  }

  buildTarget(node: JsonObject): Built {
    const entries = Object.entries(node).flatMap(([word, value]) => {
      if (word === '$ref') return [[word, toDef(value)]]
      return asserting.has(word) ? [[word, this.#keyword(word, value)]] : []
    })
    return this.#withDefault(Object.fromEntries(entries), node)
  }

  #withDefault(built: Record<string, unknown>, node: JsonObject): Built {
    const value = '$ref' in built ? this.#document.withDefault(node)?.default : undefined
    return value === undefined ? built : { ...built, default: value }
  }

  #keyword(word: string, value: unknown): unknown {
    const container = containerOfKeyword(word)
    if (container === 'schema') return this.build(value)
    if (container === 'array') return (value as readonly unknown[]).map((part) => this.build(part))
    if (container === undefined) return value
    return Object.fromEntries(Object.entries(value as JsonObject).map(([name, part]) => [name, this.build(part)]))
  }
}
