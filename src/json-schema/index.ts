import { TooldexError } from '../base/errors.ts'
import { isObject } from '../base/json-values.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import { WorkBudget } from '../base/work-budget.ts'
import { checkDocument } from './check-document.ts'
import { copyJson, NotJson } from './copy-json.ts'
import { dialectOfSchema } from './keywords.ts'
import { schemaLimits } from './limits.ts'
import { SchemaDocument } from './schema-document.ts'
import { SchemaCache, SchemaValidator } from './schema-validator.ts'

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

/** A checked schema, which can be built if it has no problems. */
interface ReadSchema {
  readonly document: SchemaDocument
  readonly problems: readonly Problem[]
}

/** A copy of a schema, or the problems of one that is too large or not JSON. */
interface MeasuredSchema {
  /** Unaffected by later changes of the original. */
  readonly copy: unknown
  readonly problems: readonly Problem[]
}

/** Checks a measured schema; compiles nothing and fetches nothing. */
function readMeasured(
  schema: unknown,
  pointer: string,
  budget: WorkBudget = new WorkBudget(schemaLimits.steps),
): ReadSchema {
  const document = new SchemaDocument(schema, schemaLimits.subschemas + 1)
  const problems =
    dialectOfSchema(schema) === undefined ? [unknownDialect(pointer)] : checkDocument(document, pointer, budget)
  return { document, problems }
}

const unknownDialect = (pointer: string): Problem => ({
  severity: 'error',
  pointer: `${pointer}/$schema`,
  message: '$schema must be draft-07 or 2020-12',
  hint: '"http://json-schema.org/draft-07/schema#" or "https://json-schema.org/draft/2020-12/schema"',
})

/** Checks the depth and the size of a schema before anything traverses it. */
function measureSchema(schema: unknown, pointer: string): MeasuredSchema {
  const deep = findDeep(schema)
  if (deep !== undefined) return rejected(pointer, deep, 'make it simpler, or split the tool into several')
  try {
    const { value: copy } = copyJson(schema)
    const bytes = Buffer.byteLength(JSON.stringify(copy))
    if (bytes <= schemaLimits.bytes) return { copy, problems: [] }
    const message = `the schema has ${bytes} bytes as JSON; at most ${schemaLimits.bytes} are allowed`
    return rejected(pointer, message, 'shorten its strings and arrays')
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    return rejected(pointer + toPointer(error.path), `the schema ${error.message}`, 'write plain JSON')
  }
}

/** Traverses level by level, which is safe for deep, cyclic and shared values. */
function findDeep(schema: unknown): string | undefined {
  let level: object[] = typeof schema === 'object' && schema !== null ? [schema] : []
  let parts = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > schemaLimits.depth) return `the schema nests deeper than ${schemaLimits.depth} levels`
    const next: object[] = []
    for (const part of level) {
      for (const child of Object.values(part)) {
        parts++
        if (typeof child === 'object' && child !== null) next.push(child)
      }
      // Every part takes at least one byte of JSON, so a schema within the limit has no more.
      if (parts > schemaLimits.bytes) return `the schema has more than ${schemaLimits.bytes} parts`
    }
    level = next
  }
  return undefined
}

const rejected = (pointer: string, message: string, hint: string): MeasuredSchema => ({
  copy: undefined,
  problems: [{ severity: 'error', pointer, message, hint }],
})
