import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { toPointer } from '../../base/problem.ts'
import type { CatalogToolInput } from '../../contract/catalog.ts'
import type { FunctionContext, FunctionTool } from '../../contract/executor.ts'
import type { JsonSchema } from '../../contract/tool-index.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { describedParse, describeZodIssue } from '../../diagnostics/zod-issues.ts'

/** A schema of a function: of zod, or JSON Schema. */
export type FunctionSchema = z.ZodType | JsonSchema

/** The value that a schema of zod describes; unknown for JSON Schema. */
type InputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Readonly<Record<string, unknown>>
type OutputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : unknown

/** A function of a program, as `defineTool` takes it. */
export interface FunctionDefinition<Input extends FunctionSchema, Output extends FunctionSchema>
  extends Omit<CatalogToolInput, 'inputSchema' | 'outputSchema' | 'source' | 'status' | 'version' | 'description'> {
  readonly description: string
  /** The schema of the arguments: an object. */
  readonly input: Input
  /** The schema of the result; not validated where absent. */
  readonly output?: Output
  /** The time limit of a call that sets none; 30 seconds where absent. */
  readonly timeoutMs?: number
  readonly run: (input: InputOf<Input>, context: FunctionContext) => OutputOf<Output> | Promise<OutputOf<Output>>
}

const defaultTimeoutMs = 30_000
const maxTimeoutMs = 86_400_000

/** Defines a tool by a function of this program. */
export function defineTool<const Input extends FunctionSchema, const Output extends FunctionSchema = JsonSchema>(
  definition: FunctionDefinition<Input, Output>,
): FunctionTool {
  const { input, output, run, timeoutMs = defaultTimeoutMs, ...rest } = definition
  if (typeof run !== 'function') throw new TooldexError('INPUT_INVALID', `run of ${rest.name} must be a function.`)
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > maxTimeoutMs)
    throw new TooldexError('INPUT_INVALID', `timeoutMs of ${rest.name} must be an integer from 1 to ${maxTimeoutMs}.`)
  const tool = {
    ...rest,
    inputSchema: toJsonSchema(input, 'input'),
    ...(output === undefined ? {} : { outputSchema: toJsonSchema(output, 'output') }),
  }
  return Object.freeze({
    tool,
    timeoutMs,
    run: async (value: Readonly<Record<string, unknown>>, context: FunctionContext) =>
      run((await parseArguments(input, value)) as InputOf<Input>, context),
  })
}

const isZod = (schema: unknown): schema is z.ZodType =>
  typeof schema === 'object' && schema !== null && '_zod' in schema

/** A schema of zod describes what callers send: values before its transformations. */
function toJsonSchema(schema: FunctionSchema, field: 'input' | 'output'): Record<string, unknown> {
  if (!isZod(schema)) {
    if (typeof schema === 'object' && schema !== null && !('~standard' in schema))
      return schema as Record<string, unknown>
    throw new TooldexError('INPUT_INVALID', `${field} must be a schema of zod 4 or a JSON Schema.`)
  }
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  if (field === 'output' || json.type === 'object') return json as Record<string, unknown>
  throw new TooldexError('INPUT_INVALID', 'input must be an object: z.object({ ... }).')
}

/** Applies defaults, transformations and refinements of zod, which JSON Schema cannot express. */
async function parseArguments(schema: FunctionSchema, value: unknown): Promise<unknown> {
  if (!isZod(schema)) return value
  const parsed = await schema.safeParseAsync(value, describedParse)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => {
    const { message, hint } = describeZodIssue(issue)
    return {
      severity: 'error' as const,
      pointer: toPointer(issue.path),
      message,
      ...(hint === undefined ? {} : { hint }),
    }
  })
  throw toProblemError({ code: 'INPUT_INVALID', what: 'The input', problems })
}
