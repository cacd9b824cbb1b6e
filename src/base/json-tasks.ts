import { TooldexError } from './errors.ts'
import { parseExactly } from './exact-numbers.ts'
import { findByPath } from './json-path.ts'
import { tooMuchWork, type Validated } from './json-schema/schema-validator.ts'
import { checkSchema, compileSchema, SchemaCache } from './json-schema.ts'
import { compilePattern } from './pattern.ts'
import type { Problem } from './problem.ts'
import { OutOfBudget, WorkBudget } from './work-budget.ts'

/** Work whose cost the input decides. Schemas and values travel as JSON text, which costs the least to hand over. */
export type JsonTask =
  | { readonly kind: 'validate'; readonly schema: string; readonly value: string }
  | { readonly kind: 'check schema'; readonly schema: string; readonly pointer: string; readonly object: boolean }
  | { readonly kind: 'find'; readonly text: string; readonly path: string }
  | { readonly kind: 'match'; readonly pattern: string; readonly text: string }

/** The answer to each kind of task. */
export interface JsonAnswers {
  readonly validate: Validated
  readonly 'check schema': readonly Problem[]
  /** Undefined where the text is not JSON. */
  readonly find: readonly unknown[] | undefined
  readonly match: boolean
}

const schemas = new SchemaCache()
const patternSteps = 60_000_000

/** Does one task on this thread. */
export function doJsonTask(task: JsonTask): JsonAnswers[JsonTask['kind']] {
  if (task.kind === 'validate') {
    return compileSchema(JSON.parse(task.schema), schemas).validate(JSON.parse(task.value))
  }
  if (task.kind === 'check schema') {
    return checkSchema(JSON.parse(task.schema), task.pointer, { object: task.object })
  }
  return task.kind === 'find' ? find(task.text, task.path) : match(task.pattern, task.text)
}

function find(text: string, path: string): readonly unknown[] | undefined {
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    return undefined
  }
  return findByPath(value, path)
}

function match(pattern: string, text: string): boolean {
  const budget = new WorkBudget(patternSteps)
  try {
    return compilePattern(pattern, budget).test(text, budget)
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    const problems = [tooMuchWork(error.where)]
    throw new TooldexError('INPUT_INVALID', `The text is too long for ${error.where}.`, { problems })
  }
}
