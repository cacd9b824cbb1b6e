import type { CompiledTool, LlmFormat, LlmTool } from '../../contract/llm.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { ToolDiff } from '../../contract/tool-diff.ts'
import { type CompileOptions, compileTool } from '../../definitions/index.ts'
import { diffTools } from '../../versions/diff-tools.ts'

/** Work on tools that takes long for large schemas. */
export type ToolTask =
  | { readonly kind: 'compile'; readonly tool: LlmTool; readonly format: LlmFormat; readonly options: CompileOptions }
  | { readonly kind: 'diff'; readonly before: ToolContent; readonly after: ToolContent }

/** The result of each kind of task. */
export interface ToolResults {
  readonly compile: CompiledTool
  readonly diff: ToolDiff
}

/** Runs one task on this thread. */
export const doToolTask = (task: ToolTask): ToolResults[ToolTask['kind']] =>
  task.kind === 'diff' ? diffTools(task.before, task.after) : compileTool(task.tool, task.format, task.options)
