import { JSONPathEnvironment, JSONPathError } from 'json-p3'
import { TooldexError } from '../../base/errors.ts'
import { type MissingPart, parseExactNumbers, readExactNumber } from '../../base/exact-numbers.ts'
import { type SplitJson, splitJson } from '../../base/json-text.ts'
import { compilePattern, compileSearchPattern, faultOfPattern } from '../../base/pattern.ts'
import type { Problem } from '../../base/problem.ts'
import { OutOfBudget, WorkBudget } from '../../base/work-budget.ts'
import { type ReadJsonOptions, readJsonBytes } from '../../documents/read-json.ts'
import { checkSchema, compileSchema, SchemaCache } from '../index.ts'
import { tooMuchWorkProblem, type Validated } from '../schema-validator.ts'

/** Work whose cost depends on the input. Schemas and values are sent as JSON text, which is the cheapest to transfer. */
export type JsonTask =
  | {
      readonly kind: 'validate'
      readonly schema: string
      readonly value: string
      readonly problemsOnly: boolean
      readonly root?: string | undefined
    }
  | { readonly kind: 'check schema'; readonly schema: string; readonly pointer: string; readonly object: boolean }
  | { readonly kind: 'find'; readonly text: string; readonly path: string }
  /** `exact`: integers that cannot be represented exactly become strings. */
  | { readonly kind: 'read'; readonly text: string; readonly pointer: string; readonly exact: boolean }
  | { readonly kind: 'read parts'; readonly bytes: Uint8Array; readonly options: ReadJsonOptions }
  | { readonly kind: 'match'; readonly pairs: readonly PatternAndText[] }
  | { readonly kind: 'check patterns'; readonly patterns: readonly string[] }

/** A pattern and the text that it may match as a whole. */
export type PatternAndText = readonly [pattern: string, text: string]

/** A pattern that does not compile, and the reason. */
export type PatternFault = readonly [pattern: string, reason: string]

/** The result of each kind of task. */
interface JsonAnswers {
  readonly validate: Validated
  readonly 'check schema': readonly Problem[]
  readonly find: ReadText
  readonly read: ReadText
  readonly match: readonly boolean[]
  readonly 'check patterns': readonly PatternFault[]
  readonly 'read parts': SplitJson
}

/** A part of a JSON text as JSON text, or the reason why there is none. */
export type ReadText = { readonly json: string } | MissingPart

const schemas = new SchemaCache()
const patternSteps = 60_000_000

/** Runs one task on this thread. */
export function doJsonTask(task: JsonTask): JsonAnswers[JsonTask['kind']] {
  if (task.kind === 'validate') {
    const validator = compileSchema(JSON.parse(task.schema), schemas)
    const { value, problems } = validator.validate(JSON.parse(task.value), task.root)
    return { value: task.problemsOnly ? undefined : value, problems }
  }
  if (task.kind === 'check schema') {
    return checkSchema(JSON.parse(task.schema), task.pointer, { object: task.object })
  }
  if (task.kind === 'read') return read(task.text, task.pointer, task.exact)
  if (task.kind === 'read parts') return splitJson(readJsonBytes(task.bytes, task.options))
  if (task.kind === 'check patterns') return checkInBudget(task.patterns)
  return task.kind === 'find' ? find(task.text, task.path) : match(task.pairs)
}

function find(text: string, path: string): ReadText {
  let value: unknown
  try {
    value = parseExactNumbers(text)
  } catch {
    return { missing: 'JSON' }
  }
  return { json: JSON.stringify(findByJsonPath(value, path)) }
}

function read(text: string, pointer: string, exact: boolean): ReadText {
  const found = readExactNumber(text, pointer, exact ? parseExactNumbers : JSON.parse)
  return 'value' in found ? { json: JSON.stringify(found.value) } : found
}

function match(pairs: readonly PatternAndText[]): readonly boolean[] {
  try {
    return matchAll(pairs, new WorkBudget(patternSteps))
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    const problems = [tooMuchWorkProblem(error.where)]
    throw new TooldexError('INPUT_INVALID', `The text is too long for ${error.where}.`, { problems })
  }
}

/** Whether each pattern matches its whole text. */
export const matchAll = (pairs: readonly PatternAndText[], budget: WorkBudget): readonly boolean[] =>
  pairs.map(([pattern, text]) => compilePattern(pattern, budget).test(text, budget))

/** The patterns that do not compile. */
export function checkPatterns(patterns: readonly string[], budget: WorkBudget): readonly PatternFault[] {
  const faults: PatternFault[] = []
  for (const pattern of patterns) {
    const reason = faultOfPattern(pattern, budget)
    if (reason !== undefined) faults.push([pattern, reason])
  }
  return faults
}

function checkInBudget(patterns: readonly string[]): readonly PatternFault[] {
  try {
    return checkPatterns(patterns, new WorkBudget(patternSteps))
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    throw new TooldexError(
      'INPUT_INVALID',
      `It takes too long to compile ${patterns.length} patterns: ${error.where}.`,
      {
        hint: 'Use fewer or shorter patterns.',
      },
    )
  }
}

const environment = new JSONPathEnvironment()
// The functions with a regular expression use patterns whose steps are counted.
for (const [name, wrap] of [
  ['match', (pattern: string) => `^(?:${pattern})$`],
  ['search', (pattern: string) => pattern],
] as const) {
  const original = environment.functionRegister.get(name)
  if (original === undefined) continue
  environment.functionRegister.set(name, {
    ...original,
    argTypes: original.argTypes,
    returnType: original.returnType,
    call: (text: unknown, pattern: unknown) =>
      typeof text === 'string' && typeof pattern === 'string' && test(wrap(pattern), text),
  })
}

// A query runs synchronously, so one budget at a time is enough.
let budget = new WorkBudget(0)

function test(pattern: string, text: string): boolean {
  try {
    return compileSearchPattern(pattern, budget).test(text, budget)
  } catch (error) {
    if (error instanceof OutOfBudget) throw error
    return false
  }
}

/** All values that a JSONPath (RFC 9535) selects. */
export function findByJsonPath(value: unknown, path: string): readonly unknown[] {
  budget = new WorkBudget(patternSteps)
  try {
    return environment.query(path, value as never).values()
  } catch (error) {
    if (error instanceof OutOfBudget)
      throw new TooldexError('INPUT_INVALID', `The path takes too long on this value (${error.where}).`, {
        hint: 'Use a simpler pattern, or a path that selects fewer values.',
      })
    if (!(error instanceof JSONPathError)) throw error
    throw new TooldexError('INPUT_INVALID', `The path is not a valid JSONPath: ${error.message.slice(0, 200)}.`, {
      hint: 'Write a JSONPath such as $.items[*].name',
    })
  }
}
