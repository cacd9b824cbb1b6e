import { type Problem, toPointer } from '../base/problem.ts'
import { WorkBudget } from '../base/work-budget.ts'
import { checkDocument } from './check-document.ts'
import { copyJson, NotJson } from './copy-json.ts'
import { dialectOf } from './keywords.ts'
import { schemaLimits } from './limits.ts'
import { SchemaDocument } from './schema-document.ts'

/** A checked schema, which can be built if it has no problems. */
export interface ReadSchema {
  readonly document: SchemaDocument
  readonly problems: readonly Problem[]
}

/** A copy of a schema, or the problems of one that is too large or not JSON. */
export interface MeasuredSchema {
  /** Unaffected by later changes of the original. */
  readonly copy: unknown
  readonly problems: readonly Problem[]
}

/** Checks a measured schema; compiles nothing and fetches nothing. */
export function readMeasured(
  schema: unknown,
  pointer: string,
  budget: WorkBudget = new WorkBudget(schemaLimits.steps),
): ReadSchema {
  const document = new SchemaDocument(schema, schemaLimits.subschemas + 1)
  const problems =
    dialectOf(schema) === undefined ? [unknownDialect(pointer)] : checkDocument(document, pointer, budget)
  return { document, problems }
}

const unknownDialect = (pointer: string): Problem => ({
  severity: 'error',
  pointer: `${pointer}/$schema`,
  message: '$schema must be draft-07 or 2020-12',
  hint: '"http://json-schema.org/draft-07/schema#" or "https://json-schema.org/draft/2020-12/schema"',
})

/** Checks the depth and the size of a schema before anything traverses it. */
export function measureSchema(schema: unknown, pointer: string): MeasuredSchema {
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
