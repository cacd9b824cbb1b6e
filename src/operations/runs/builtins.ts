import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { describedParse } from '../../diagnostics/zod-issues.ts'
import { runCodeName } from '../../rules/builtin-names.ts'
import { invalidInputError } from '../invoke.ts'
import type { Operation, OperationContext } from '../operation.ts'
import type { DescribedTool } from '../search/describe-tools.ts'
import { getExecution } from './executions.ts'
import { readStoredResult } from './results.ts'
import { describeRunCode } from './run-code.ts'

/** Built-in tools: called like any other, but not listed. */
const builtins: Readonly<
  Record<string, { readonly operation: Operation<z.ZodType, z.ZodType>; readonly description: string }>
> = {
  'tooldex:read_result': {
    operation: readStoredResult as Operation<z.ZodType, z.ZodType>,
    description: 'Read more of a large output: page by page, the matching lines, or the matches of a JSONPath.',
  },
  'tooldex:read_execution': {
    operation: getExecution as Operation<z.ZodType, z.ZodType>,
    description: 'Show the state of an earlier call, by its execution id.',
  },
}

/** The description of a built-in tool. */
export function describeBuiltin(name: string, context: OperationContext): DescribedTool {
  if (name === runCodeName) return describeRunCode(context)
  const { operation, description: summary } = findBuiltin(name)
  const { $schema: _, ...inputSchema } = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' })
  const annotations = { readOnlyHint: true }
  return {
    id: name,
    name,
    summary,
    category: null,
    tags: [],
    tool: { name, description: summary, inputSchema },
    annotations,
  }
}

/** Runs an operation, here or on a server. */
type Ask = (operation: Operation<z.ZodType, z.ZodType>, input: Record<string, unknown>) => Promise<unknown>

/** Runs a built-in tool: an operation whose response is the output. */
export async function callBuiltin(
  name: string,
  args: Readonly<Record<string, unknown>>,
  run: Ask,
): Promise<{ tool: string; outcome: RunOutcome }> {
  const { operation } = findBuiltin(name)
  // Checked here as well, because a server names the parameters of its route.
  const { error } = operation.input.safeParse(args, describedParse)
  if (error !== undefined) throw await invalidInputError(operation, { input: args, issues: error.issues })
  const started = performance.now()
  const output = await run(operation, { ...args })
  const durationMs = Math.round((performance.now() - started) * 10) / 10
  const result = { stdout: '', stderr: '', exitCode: null, signal: null, durationMs, truncated: false }
  const { suspicious } = output as Pick<RunOutcome, 'suspicious'>
  const signs = suspicious === undefined ? {} : { suspicious }
  return {
    tool: name,
    outcome: { status: 'SUCCESS', result, output, isolation: 'none', errorCode: null, errorMessage: null, ...signs },
  }
}

function findBuiltin(name: string) {
  const found = Object.hasOwn(builtins, name) ? builtins[name] : undefined
  if (found !== undefined) return found
  throw new TooldexError('TOOL_NOT_FOUND', `Unknown tool: ${name.slice(0, 200)}.`, {
    hint: `The built-in tools are: ${Object.keys(builtins).join(', ')}.`,
  })
}
