import { createHash } from 'node:crypto'
import type { ErrorObject } from 'ajv'
import { isObject, type JsonObject } from '../base/json-values.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import { OutOfBudget, WorkBudget } from '../base/work-budget.ts'
import { formatIssuePath, theInput } from '../diagnostics/zod-issues.ts'
import { type BuiltSchema, buildSchema, compileBuilt, type SchemaCheck } from './compile-built.ts'
import { type CopiedJson, copyJson, NotJson, setOwnProperty } from './copy-json.ts'
import { describeErrors } from './describe-errors.ts'
import { limitsHere, schemaLimits, stepCosts } from './limits.ts'
import type { SchemaDocument } from './schema-document.ts'

/** The result of a validation. */
export interface Validated {
  /** A copy with the defaults inserted; the value itself if it is not JSON. */
  readonly value: unknown
  readonly problems: readonly Problem[]
}

// Above this number of checks only the first error is reported, so that the errors of a large invalid value cannot exhaust memory.
const maxChecks = 2_000_000
// A string is read by each keyword that applies to it; this many characters count as one node.
const charactersPerNode = 8

/** Validates values against one schema, which is compiled with the first value. */
export class SchemaValidator {
  readonly #built: BuiltSchema
  readonly #subschemas: number
  #first: SchemaCheck | undefined
  #all: SchemaCheck | undefined

  constructor(document: SchemaDocument) {
    this.#built = buildSchema(document)
    this.#subschemas = Math.max(1, document.subschemas.length)
  }

  /** Validates a copy of a value with defaults inserted; never changes the value and never throws. */
  validate(value: unknown, root = theInput): Validated {
    try {
      return this.#validate(copyJson(value), new WorkBudget(schemaLimits.steps), root)
    } catch (error) {
      return { value, problems: [describe(error, root)] }
    }
  }

  /** The same within a few milliseconds; throws OutOfBudget if that is not enough. */
  validateHere(value: unknown, root = theInput): Validated {
    if (this.#subschemas > limitsHere.subschemas) throw new OutOfBudget('the size of the schema')
    try {
      const copied = copyJson(value, limitsHere.valueNodes)
      if (sizeOf(copied) * this.#subschemas > limitsHere.checks) throw new OutOfBudget('the size of the value')
      return this.#validate(copied, new WorkBudget(limitsHere.steps), root)
    } catch (error) {
      if (error instanceof OutOfBudget) throw error
      return { value, problems: [describe(error, root)] }
    }
  }

  #validate(copied: CopiedJson, budget: WorkBudget, root: string): Validated {
    applyDefaults(this.#built, copied.value, budget)
    return { value: copied.value, problems: describeErrors(this.#findErrors(copied, budget), root) }
  }

  #findErrors(copied: CopiedJson, budget: WorkBudget): readonly ErrorObject[] {
    this.#first ??= compileBuilt(this.#built, false)
    const first = this.#first(copied.value, budget)
    if (first.length === 0 || sizeOf(copied) * this.#subschemas > maxChecks) return first
    this.#all ??= compileBuilt(this.#built, true)
    return this.#all(copied.value, budget)
  }
}

const sizeOf = ({ nodes, characters }: CopiedJson): number => nodes + characters / charactersPerNode

function describe(error: unknown, root: string): Problem {
  if (error instanceof NotJson) {
    return {
      severity: 'error',
      pointer: toPointer(error.path),
      message: `${formatIssuePath(error.path, root)} ${error.message}`,
    }
  }
  if (!(error instanceof OutOfBudget) && !(error instanceof RangeError)) throw error
  return tooMuchWorkProblem(error instanceof OutOfBudget ? error.where : undefined, root)
}

/** Whether a validation was abandoned because it took too long. */
export const isOutOfBudget = (problems: readonly Problem[]): boolean =>
  problems.some(({ kind }) => kind === 'too-costly')

/** The problem of a value whose validation takes too long; `where` names the part of the schema that takes the time. */
export function tooMuchWorkProblem(where: string | undefined, root = theInput): Problem {
  const at = where === undefined ? '' : ` (${where})`
  const message = `${root} takes too long to validate against this schema${at}`
  return {
    severity: 'error',
    kind: 'too-costly',
    pointer: '',
    message,
    hint: 'shorten the input, or simplify the schema',
  }
}

type Path = readonly PropertyKey[]

/** Inserts the defaults of a schema into a copied value, wherever the schema applies unconditionally. */
function applyDefaults({ root, defs }: BuiltSchema, value: unknown, budget: WorkBudget): void {
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
    if (Array.isArray(value)) this.#fillArray(schema, value, path)
    else this.#fillObject(schema, value as Record<string, unknown>, path)
    // The outer default takes precedence, as in definitions.
    if (Array.isArray(schema.allOf)) for (const part of schema.allOf) this.fill(part, value, path)
    if (typeof schema.$ref === 'string') this.fill(this.#defs[schema.$ref.slice('#/$defs/'.length)], value, path)
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
    setOwnProperty(value, name, copyJson(defaultValue).value)
  }
}

/** An LRU cache of validators by the content of their schemas. */
export class SchemaCache {
  readonly #entries = new Map<string, SchemaValidator>()
  readonly #maxEntries: number

  /** A used validator takes about 50 KB. */
  constructor(maxEntries = 500) {
    this.#maxEntries = maxEntries
  }

  get size(): number {
    return this.#entries.size
  }

  /** The cached validator of a schema, or a new one from `create`. */
  take(schema: unknown, create: () => SchemaValidator): SchemaValidator {
    const key = createHash('sha256')
      .update(JSON.stringify(schema) ?? '')
      .digest('base64')
    const found = this.#entries.get(key) ?? create()
    this.#entries.delete(key)
    this.#entries.set(key, found)
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value ?? '')
    return found
  }
}
