import { TooldexError } from '../base/errors.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'
import { joinProblems } from '../diagnostics/problem-error.ts'
import { SchemaCache } from '../json-schema/index.ts'
import { readJsonPart, validateValue } from '../json-schema/offload/json-work.ts'

const cache = new SchemaCache()

type Json = Readonly<Record<string, unknown>>

/** Returns the arguments of a call with their defaults; throws INPUT_INVALID with all problems at once. */
export async function checkInput({ name }: RunnableTool, schema: Json, input: Json): Promise<Json> {
  const { value, problems } = await validateValue(schema, input, { cache })
  if (problems.length === 0) return value as Json
  throw new TooldexError('INPUT_INVALID', `${name}: ${joinProblems(problems)}.`, { problems })
}

/** Validates an output against the output schema; a run with an invalid output has failed, and the output is kept. */
export async function checkOutput(tool: RunnableTool, outcome: RunOutcome): Promise<RunOutcome> {
  const read = outcome.output === undefined ? { ...outcome, output: await parseStdout(outcome.result.stdout) } : outcome
  if (outcome.status !== 'SUCCESS') return read
  const { problems } = await validateValue(tool.outputSchema, read.output ?? null, {
    cache,
    problemsOnly: true,
    root: 'it',
  })
  if (problems.length === 0) return read
  const errorMessage = `The output of the tool does not match its output schema: ${joinProblems(problems)}`
  return { ...read, status: 'FAILED', errorCode: 'OUTPUT_INVALID', errorMessage }
}

/** Commands with an output schema print JSON. */
async function parseStdout(text: string): Promise<unknown> {
  const read = await readJsonPart(text, '', { exact: false })
  return 'value' in read ? read.value : text
}
