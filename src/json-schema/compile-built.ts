import { createRequire } from 'node:module'
import type { ErrorObject, FuncKeywordDefinition, Options, ValidateFunction } from 'ajv'
import type * as Ajv2020 from 'ajv/dist/2020.js'
import { compileSearchPattern } from '../base/pattern.ts'
import { WorkBudget } from '../base/work-budget.ts'
import type { BuiltSchema } from './build-schema.ts'
import { schemaLimits, stepCosts } from './limits.ts'

/** Loaded with the first value that is checked: most starts check none. */
const loadAjv = (): typeof Ajv2020 => createRequire(import.meta.url)('ajv/dist/2020.js')

/** Returns the errors of a value; patterns and refs spend steps of the budget. */
export type SchemaCheck = (value: unknown, budget: WorkBudget) => readonly ErrorObject[]

const options: Options = {
  strict: false,
  // What is compiled was made by us of a schema that was looked through.
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

/** Compiles a built schema; each has a compiler of its own, because a shared one would keep all it ever made. */
export function compileBuilt({ root, defs }: BuiltSchema, allErrors: boolean): SchemaCheck {
  let budget = new WorkBudget(schemaLimits.steps)
  const searchPattern = (source: string) => {
    const pattern = compileSearchPattern(source)
    // Distinguished by their text, so that two patterns of one schema are never taken for each other.
    return { test: (text: string) => pattern.test(text, budget), toString: () => source }
  }
  const regExp = Object.assign(searchPattern, { code: 'searchPattern' })
  // Optimizing the code takes three times as long as making it, and runs no faster for one value.
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
  return (value, given) => {
    budget = given
    return validate(value) ? [] : (validate.errors ?? [])
  }
}

type Exact = FuncKeywordDefinition & { readonly keyword: string }

/**
 * Keywords that compare values, by their text: ajv's own comparison calls what a value has under `toString` or `valueOf`, and
 * takes the square of a list's length to find entries that are the same, and 0.3 for no multiple of 0.1.
 */
const exactKeywords: readonly Exact[] = [
  { keyword: 'const', errors: false, compile: (wanted: unknown) => isOneOf([wanted]) },
  { keyword: 'enum', schemaType: 'array', errors: false, compile: isOneOf },
  { keyword: 'multipleOf', type: 'number', schemaType: 'number', errors: false, compile: isMultipleOf },
  { keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', errors: false, compile: isUnique },
]

function isOneOf(wanted: readonly unknown[]): (value: unknown) => boolean {
  const texts = new Set(wanted.map(canonical))
  return (value) => texts.has(canonical(value))
}

function isUnique(wanted: boolean): (items: readonly unknown[]) => boolean {
  return (items) => !wanted || new Set(items.map(canonical)).size === items.length
}

function isMultipleOf(step: number): (value: number) => boolean {
  return (value) => {
    const times = value / step
    if (Number.isInteger(times)) return true
    // Steps such as 0.1 are not exact themselves, so the last digit of the quotient says nothing.
    return !Number.isInteger(step) && Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.abs(times)
  }
}

/** The same text for values that JSON Schema takes to be the same. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, held: unknown) =>
    typeof held === 'object' && held !== null && !Array.isArray(held)
      ? Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1))
      : Array.isArray(held)
        ? ['list', ...held]
        : held,
  )
