import { TooldexError } from '../base/errors.ts'
import { compileSchema, SchemaCache, type SchemaValidator } from '../base/json-schema.ts'
import type { Problem } from '../base/problem.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'

const schemas = new SchemaCache()
// The same tool is called many times; what it says need not be read again to know that.
const compiled = new WeakMap<object, SchemaValidator>()

function validatorOf(schema: Json): SchemaValidator {
  const known = compiled.get(schema) ?? compileSchema(schema, schemas)
  compiled.set(schema, known)
  return known
}

type Json = Readonly<Record<string, unknown>>

/** The arguments of a call with their defaults filled in; all that is wrong with them is told at once. */
export function checkInput({ name }: RunnableTool, schema: Json, given: Json): Json {
  const { value, problems } = validatorOf(schema).validate(given)
  if (problems.length === 0) return value as Json
  throw new TooldexError('INPUT_INVALID', `${name}: ${say(problems)}.`, { problems })
}

/** Says whether what a tool gave is what it promises; one that breaks its word has failed, and what it gave is kept. */
export function checkOutput(tool: RunnableTool, outcome: RunOutcome): RunOutcome {
  const read = outcome.output === undefined ? { ...outcome, output: parsed(outcome.result.stdout) } : outcome
  if (outcome.status !== 'SUCCESS') return read
  const { problems } = validatorOf(tool.outputSchema).validate(read.output ?? null)
  if (problems.length === 0) return read
  const errorMessage = `What the tool returned does not fit its output schema: ${say(problems).replace(/^the input\b/, 'it')}`
  return { ...read, status: 'FAILED', errorCode: 'OUTPUT_INVALID', errorMessage }
}

const say = (problems: readonly Problem[]): string =>
  problems
    .slice(0, 5)
    .map(({ pointer, message }) => (pointer ? `${pointer} ${message}` : message))
    .join('; ')

/** Commands that promise a structure print it as JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
