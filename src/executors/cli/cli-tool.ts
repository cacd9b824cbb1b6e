import { CliExecutorConfig } from '../../contract/cli-config.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'

const blank = { name: '', description: '', tags: [], exampleRequests: [], category: null, annotations: undefined }

/** The config of a registered CLI tool, in the form that a tool of a config has. */
export const CliTool = CliExecutorConfig.transform((config): ResolvedTool => {
  const { baseCommand, globalArgs, env, workingDir, timeoutMs, worker: _worker, limits: _limits, ...own } = config
  const timeout = own.timeout ?? (timeoutMs === undefined ? null : timeoutMs / 1000)
  return {
    tool: { ...blank, ...own, timeout },
    baseCommand,
    globalArgs,
    env,
    workingDir,
    descriptionOverride: null,
    argConstraints: {},
  }
})
