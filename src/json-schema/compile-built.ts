import { createRequire } from 'node:module'
import type { ErrorObject, FuncKeywordDefinition, Options, ValidateFunction } from 'ajv'
import type * as Ajv2020 from 'ajv/dist/2020.js'
import { compileSearchPattern } from '../base/pattern.ts'
import { WorkBudget } from '../base/work-budget.ts'
import type { BuiltSchema } from './build-schema.ts'
import { schemaLimits, stepCosts } from './limits.ts'

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
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))
      : Array.isArray(part)
        ? ['list', ...part]
        : part,
  )
