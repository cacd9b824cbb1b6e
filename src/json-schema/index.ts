import { TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { isObject } from '../base/same-json.ts'
import type { WorkBudget } from '../base/work-budget.ts'
import { measureSchema } from './measure-schema.ts'
import { readMeasured, readSchema } from './read-schema.ts'
import { SchemaCache } from './schema-cache.ts'
import { SchemaValidator } from './schema-validator.ts'

export { SchemaCache, SchemaValidator }

/** What else is asked of a schema. */
export interface CheckSchemaOptions {
  /** The schema is of a tool's arguments, which are always an object. */
  readonly object?: boolean
}

/** What is wrong with a JSON Schema of draft-07 or 2020-12, with pointers below the one given; nothing is compiled. */
export function checkSchema(
  schema: unknown,
  pointer: string,
  { object = false }: CheckSchemaOptions = {},
  budget?: WorkBudget,
): readonly Problem[] {
  const { problems } = readSchema(schema, pointer, budget)
  if (!object || takesObject(schema)) return problems
  const message = "the schema of a tool's arguments must say type: object"
  return [...problems, { severity: 'error', pointer: `${pointer}/type`, message, hint: 'add "type": "object"' }]
}

/** A validator for a schema, from the cache where one is given; throws INPUT_INVALID for a schema that is none. */
export function compileSchema(schema: unknown, cache?: SchemaCache, budget?: WorkBudget): SchemaValidator {
  const { copy, problems } = measureSchema(schema, '')
  refuse(problems)
  const make = () => {
    const read = readMeasured(copy, '', budget)
    refuse(read.problems)
    return new SchemaValidator(read)
  }
  return cache === undefined ? make() : cache.take(copy, make)
}

/** A schema that demands nothing takes every object. */
const takesObject = (schema: unknown): boolean =>
  isObject(schema) && (schema.type === 'object' || Object.keys(schema).every((key) => describing.has(key)))

const describing = new Set(['$schema', '$id', '$comment', 'title', 'description'])

function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new TooldexError('INPUT_INVALID', 'The JSON Schema is not valid.', { problems })
}
