import { type Problem, toPointer } from '../problem.ts'
import { OutOfBudget, WorkBudget } from '../work-budget.ts'
import { formatPath } from '../zod-issues.ts'
import { applyDefaults } from './apply-defaults.ts'
import { type BuiltSchema, buildSchema } from './build-schema.ts'
import { compileBuilt, type Judge } from './compile-built.ts'
import { type CopiedJson, copyJson, NotJson } from './copy-json.ts'
import { limitsHere, schemaLimits } from './limits.ts'
import type { ReadSchema } from './read-schema.ts'
import { sayErrors } from './say-errors.ts'

/** A value as a schema sees it. */
export interface Validated {
  /** A copy with the defaults filled in; the value itself where it is not JSON. */
  readonly value: unknown
  readonly problems: readonly Problem[]
}

// Past this many checks only the first error is looked for, so that a large wrong value cannot flood memory with errors.
const mostChecks = 2_000_000
// A string is read by each keyword that holds for it; this many characters count as one part.
const charactersPerPart = 8

/** Validates values against one schema; compiled with the first value. */
export class SchemaValidator {
  readonly #built: BuiltSchema
  readonly #subschemas: number
  #first: Judge | undefined
  #all: Judge | undefined

  constructor(read: ReadSchema) {
    this.#built = buildSchema(read)
    this.#subschemas = Math.max(1, read.subschemas)
  }

  /** Checks a copy of a value with defaults filled in; never changes the value, never throws for one. */
  validate(value: unknown): Validated {
    try {
      return this.#validate(copyJson(value), new WorkBudget(schemaLimits.steps))
    } catch (error) {
      return { value, problems: [describe(error)] }
    }
  }

  /** The same within a few milliseconds; throws OutOfBudget where that is not enough. */
  validateHere(value: unknown): Validated {
    if (this.#subschemas > limitsHere.subschemas) throw new OutOfBudget('the size of the schema')
    try {
      const copied = copyJson(value, limitsHere.valueNodes)
      if (sizeOf(copied) * this.#subschemas > limitsHere.checks) throw new OutOfBudget('the size of the value')
      return this.#validate(copied, new WorkBudget(limitsHere.steps))
    } catch (error) {
      if (error instanceof OutOfBudget) throw error
      return { value, problems: [describe(error)] }
    }
  }

  #validate(copied: CopiedJson, budget: WorkBudget): Validated {
    applyDefaults(this.#built, copied.value, budget)
    return { value: copied.value, problems: this.#judge(copied, budget) }
  }

  #judge(copied: CopiedJson, budget: WorkBudget): readonly Problem[] {
    this.#first ??= compileBuilt(this.#built, false)
    const first = this.#first(copied.value, budget)
    if (first.length === 0 || sizeOf(copied) * this.#subschemas > mostChecks) return sayErrors(first)
    this.#all ??= compileBuilt(this.#built, true)
    return sayErrors(this.#all(copied.value, budget))
  }
}

const sizeOf = ({ nodes, characters }: CopiedJson): number => nodes + characters / charactersPerPart

function describe(error: unknown): Problem {
  if (error instanceof NotJson) {
    return { severity: 'error', pointer: toPointer(error.path), message: `${formatPath(error.path)} ${error.message}` }
  }
  if (!(error instanceof OutOfBudget) && !(error instanceof RangeError)) throw error
  return tooMuchWork(error instanceof OutOfBudget ? error.where : undefined)
}

const tooLong = 'the input takes too long to validate against this schema'

/** Whether a validation ended early because it took too long. */
export const wasTooMuch = (problems: readonly Problem[]): boolean =>
  problems.some(({ message }) => message.startsWith(tooLong))

/** The problem of a value whose validation takes too long; `where` names the part of the schema that it is spent on. */
export function tooMuchWork(where: string | undefined): Problem {
  const at = where === undefined ? '' : ` (${where})`
  const message = `${tooLong}${at}`
  return { severity: 'error', pointer: '', message, hint: 'shorten the input, or simplify the schema' }
}
