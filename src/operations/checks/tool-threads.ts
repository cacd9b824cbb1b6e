import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { OutOfBudget } from '../../base/work-budget.ts'
import { TaskTooLarge, WorkerPool } from '../../base/worker-thread.ts'
import type { CompiledTool, LlmFormat, LlmTool } from '../../contract/llm.ts'
import type { Policy } from '../../contract/policy.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { ToolDiff } from '../../contract/tool-diff.ts'
import { type CompileOptions, compileTool } from '../../definitions/index.ts'
import { type FaultOfPattern, patternsOf } from '../../rules/policy-rules.ts'
import { diffTools } from '../../versions/diff-tools.ts'
import { doToolTask, type ToolResults, type ToolTask } from './tool-tasks.ts'

// Shorter schemas take a few milliseconds, unless many references are inlined.
const maxCompiledHere = 16 * 1024
const maxComparedHere = 2 * 1024
const maxWorkHere = 200
const pool = new WorkerPool<ToolTask>({ module: new URL('./tool-worker.js', import.meta.url), here: doToolTask })

/** The definition of a tool for a provider; that of a large schema is made in a worker thread. */
export async function compileToolInThread(
  tool: LlmTool,
  format: LlmFormat,
  options: CompileOptions = {},
  signal?: AbortSignal,
): Promise<CompiledTool> {
  return compileHere(tool, format, options) ?? inThread({ kind: 'compile', tool, format, options }, tool.name, signal)
}

/** The differences between two states of a tool; those of large schemas are found in a worker thread. */
export async function diffToolInThread(
  before: ToolContent,
  after: ToolContent,
  signal?: AbortSignal,
): Promise<ToolDiff> {
  const schemas = [before.inputSchema, after.inputSchema, before.outputSchema, after.outputSchema]
  return lengthOf(schemas) <= maxComparedHere
    ? diffTools(before, after)
    : inThread({ kind: 'diff', before, after }, after.name, signal)
}

const lengthOf = (schemas: unknown): number => JSON.stringify(schemas).length

function compileHere(tool: LlmTool, format: LlmFormat, options: CompileOptions): CompiledTool | undefined {
  if (lengthOf(tool.inputSchema) > maxCompiledHere) return undefined
  try {
    return compileTool(tool, format, { ...options, maxWork: maxWorkHere })
  } catch (error) {
    if (error instanceof OutOfBudget) return undefined
    throw error
  }
}

async function inThread<Task extends ToolTask>(
  task: Task,
  name: string,
  signal: AbortSignal | undefined,
): Promise<ToolResults[Task['kind']]> {
  try {
    return await pool.run<ToolResults[Task['kind']]>(task, signal)
  } catch (error) {
    if (!(error instanceof TaskTooLarge)) throw error
    throw new TooldexError('OUTPUT_LIMIT', `The schemas of ${name} take more than ${error.message}.`, {
      hint: 'Simplify them.',
    })
  }
}

const loadJsonWork = lazyModule(() => import('../../json-schema/offload/json-work.ts'))

/** The faults in the patterns of policies, found before the policies are checked: a thousand patterns take seconds. */
export async function faultsOfPatterns(
  policies: readonly (Policy | undefined)[],
  signal?: AbortSignal,
): Promise<FaultOfPattern> {
  const patterns = [...new Set(policies.flatMap((policy) => (policy === undefined ? [] : patternsOf(policy))))]
  if (patterns.length === 0) return () => undefined
  const { findPatternFaults } = await loadJsonWork()
  const faults = await findPatternFaults(patterns, signal)
  return (pattern) => faults.get(pattern)
}
