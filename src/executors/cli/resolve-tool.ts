import { TooldexError } from '../../base/errors.ts'
import { CliExecutorConfig } from '../../contract/cli-config.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'

const cache = new WeakMap<object, ResolvedTool>()

/** The resolved form of a CLI tool, from its config or from the registry. */
export function resolveTool(tool: RunnableTool): ResolvedTool {
  if (tool.resolved !== undefined) return tool.resolved
  const cached = cache.get(tool.executorConfig)
  if (cached !== undefined) return cached
  const resolved = read(tool)
  cache.set(tool.executorConfig, resolved)
  return resolved
}

function read({ name, executorConfig }: RunnableTool): ResolvedTool {
  const parsed = CliExecutorConfig.safeParse(executorConfig)
  if (!parsed.success) throw new TooldexError('TOOL_INVALID', `${name} has an invalid config.`)
  const { baseCommand, globalArgs, env, workingDir, timeoutMs, worker: _worker, ...more } = parsed.data
  const { limits: _limits, ...own } = more
  const timeout = own.timeout ?? (timeoutMs === undefined ? null : timeoutMs / 1000)
  return {
    tool: { ...blank, ...own, name, timeout },
    baseCommand,
    globalArgs,
    env,
    workingDir,
    descriptionOverride: null,
    argConstraints: {},
  }
}

const blank = { description: '', tags: [], exampleRequests: [], category: null, annotations: undefined }
