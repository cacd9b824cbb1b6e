import { TooldexError } from '../base/errors.ts'
import { isObject } from '../base/json-values.ts'
import type { Problem } from '../base/problem.ts'
import type { WorkBudget } from '../base/work-budget.ts'
import { measureSchema, readMeasured } from './read-schema.ts'
import { SchemaCache } from './schema-cache.ts'
import { SchemaValidator } from './schema-validator.ts'

export { SchemaCache, SchemaValidator }

export interface CheckSchemaOptions {
  /** Whether the schema is for the arguments of a tool, which are always an object. */
  readonly object?: boolean
}

/** The problems of a JSON Schema of draft-07 or 2020-12, with pointers below `pointer`; compiles nothing. */
export function checkSchema(
  schema: unknown,
  pointer: string,
  { object = false }: CheckSchemaOptions = {},
  budget?: WorkBudget,
): readonly Problem[] {
  const { copy, problems: rejected } = measureSchema(schema, pointer)
  const problems = rejected.length > 0 ? rejected : readMeasured(copy, pointer, budget).problems
  if (!object || acceptsObject(schema)) return problems
  const message = "the schema of a tool's arguments must have type: object"
  return [...problems, { severity: 'error', pointer: `${pointer}/type`, message, hint: 'add "type": "object"' }]
}

/** A validator for a schema, from the cache if there is one; throws INPUT_INVALID for an invalid schema. */
export function compileSchema(schema: unknown, cache?: SchemaCache, budget?: WorkBudget): SchemaValidator {
  const { copy, problems } = measureSchema(schema, '')
  rejectProblems(problems)
  const create = () => {
    const read = readMeasured(copy, '', budget)
    rejectProblems(read.problems)
    return new SchemaValidator(read.document)
  }
  return cache === undefined ? create() : cache.take(copy, create)
}

/** A schema without constraints accepts every object. */
const acceptsObject = (schema: unknown): boolean =>
  isObject(schema) && (schema.type === 'object' || Object.keys(schema).every((key) => annotationKeywords.has(key)))

const annotationKeywords = new Set(['$schema', '$id', '$comment', 'title', 'description'])

function rejectProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new TooldexError('INPUT_INVALID', 'The JSON Schema is not valid.', { problems })
}
