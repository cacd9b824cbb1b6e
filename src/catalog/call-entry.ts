import { TooldexError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import type { Problem } from '../base/problem.ts'
import type { Backend, CatalogTool } from '../contract/catalog.ts'
import { joinProblems } from '../diagnostics/problem-error.ts'
import type { SchemaValidator } from '../json-schema/index.ts'
import { toolIdOf } from './parse-tool.ts'
import { toolStatusOf } from './tool-filters.ts'

const loadJsonSchema = lazyModule(() => import('../json-schema/index.ts'))

/** A call of a tool with validated arguments, defaults filled in. */
export interface CatalogCall {
  readonly tool: CatalogTool
  readonly backend: Backend
  readonly args: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal | undefined
}

/** Runs a tool for `Catalog.call`: a function of this process, or a request to the backend. */
export type CatalogRunner = (call: CatalogCall) => unknown

/** Validates a call, runs it and validates its result; errors of the runner are passed on. */
export async function callEntry(call: CatalogCall, run: CatalogRunner | undefined): Promise<unknown> {
  const { tool, backend, signal } = call
  const id = toolIdOf(tool)
  if (run === undefined)
    throw new TooldexError('UNAVAILABLE', `${id} cannot be called: its backend '${nameOf(backend)}' has no runner.`, {
      hint: 'Register it with a function, or create the Catalog with the option run.',
    })
  const status = toolStatusOf(tool)
  if (status !== 'ACTIVE' && status !== 'DEPRECATED')
    throw new TooldexError('TOOL_DISABLED', `${id} is ${status.toLowerCase()} and cannot be called.`)
  signal?.throwIfAborted()
  const { value, problems } = (await validatorOf(tool.inputSchema)).validate(call.args)
  if (problems.length > 0) throw refuse('INPUT_INVALID', `The input of ${id}`, problems)
  const output = await run({ ...call, args: value as CatalogCall['args'] })
  if (tool.outputSchema === undefined) return output
  const checked = (await validatorOf(tool.outputSchema)).validate(output ?? null)
  if (checked.problems.length > 0) throw refuse('OUTPUT_INVALID', `The output of ${id}`, checked.problems)
  return output
}

const validators = new WeakMap<object, SchemaValidator>()

/** Compiled when a tool is first called: a program that only searches does not load the validator. */
async function validatorOf(schema: CatalogTool['inputSchema']): Promise<SchemaValidator> {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const { compileSchema } = await loadJsonSchema()
  const compiled = compileSchema(schema)
  validators.set(schema, compiled)
  return compiled
}

function refuse(code: 'INPUT_INVALID' | 'OUTPUT_INVALID', what: string, problems: readonly Problem[]): TooldexError {
  return new TooldexError(code, `${what} is not valid: ${joinProblems(problems)}.`, { problems })
}

function nameOf(backend: Backend): string {
  if (backend.kind === 'local') return backend.name
  return backend.kind === 'mcp' ? backend.serverName : `${backend.providerId}:${backend.toolId}`
}
