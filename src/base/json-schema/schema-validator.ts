import { type Problem, toPointer } from '../problem.ts'
import { formatPath } from '../zod-issues.ts'
import { applyDefaults } from './apply-defaults.ts'
import { type BuiltSchema, buildSchema } from './build-schema.ts'
import { compileBuilt, type Judge, OutOfSteps } from './compile-built.ts'
import { copyJson, NotJson } from './copy-json.ts'
import type { ReadSchema } from './read-schema.ts'
import { sayErrors } from './say-errors.ts'

/** A value as a schema sees it. */
export interface Validated {
  /** A copy with the defaults filled in; the value itself where it is no JSON. */
  readonly value: unknown
  readonly problems: readonly Problem[]
}

// Past this many checks only the first error is looked for, so that a large wrong value cannot flood memory with errors.
const mostChecks = 2_000_000

/** Holds values against one schema; compiled with the first value. */
export class SchemaValidator {
  readonly #built: BuiltSchema
  readonly #subschemas: number
  #first: Judge | undefined
  #all: Judge | undefined

  constructor(read: ReadSchema) {
    this.#built = buildSchema(read)
    this.#subschemas = read.subschemas
  }

  /** Checks a copy of a value with defaults filled in; never changes the value, never throws for one. */
  validate(value: unknown): Validated {
    try {
      const copied = copyJson(value)
      applyDefaults(this.#built, copied.value)
      return { value: copied.value, problems: this.#judge(copied.value, copied.nodes) }
    } catch (error) {
      return { value, problems: [describe(error)] }
    }
  }

  #judge(value: unknown, nodes: number): readonly Problem[] {
    this.#first ??= compileBuilt(this.#built, false)
    const first = this.#first(value)
    if (first.length === 0 || nodes * this.#subschemas > mostChecks) return sayErrors(first)
    this.#all ??= compileBuilt(this.#built, true)
    return sayErrors(this.#all(value))
  }
}

function describe(error: unknown): Problem {
  if (error instanceof NotJson) {
    return { severity: 'error', pointer: toPointer(error.path), message: `${formatPath(error.path)} ${error.message}` }
  }
  if (!(error instanceof OutOfSteps) && !(error instanceof RangeError)) throw error
  const message = 'the input takes too long to be checked against this schema'
  return { severity: 'error', pointer: '', message, hint: 'make the schema or the input simpler' }
}
