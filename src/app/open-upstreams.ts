import { join } from 'node:path'
import { toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import { watchFiles } from '../base/watch-files.ts'
import type { SecretScope } from '../contract/secret.ts'
import { loadServers, type McpExecutor, type McpExecutorOptions, type Shield } from '../executors/index.ts'
import { createRedactor } from '../secrets/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'

/** The MCP servers that a file of this machine defines. */
interface ReadUpstreams {
  readonly options: McpExecutorOptions
  /** Reloads the file on changes until the signal is aborted; an invalid file is logged and ignored. */
  watch(executor: McpExecutor, logger: Logger, signal: AbortSignal): void
}

/** Reads the MCP servers that the file defines now. */
export function readUpstreams(
  env: NodeJS.ProcessEnv,
  secrets: SecretScope,
  { mcpServers, shield }: { readonly mcpServers?: string | undefined; readonly shield?: Shield | undefined },
): ReadUpstreams {
  const named = mcpServers ?? (env.TOOLDEX_MCP_SERVERS || undefined)
  const file = { path: named ?? join(tooldexHome(env), 'servers.json'), required: named !== undefined }
  const redactorFor = (declared: Readonly<Record<string, string>>) => createRedactor(declared, env)
  const reload = (executor: McpExecutor, logger: Logger): void => {
    try {
      executor.replaceServers(loadServers(file, env))
      logger.info('MCP servers reloaded', { file: file.path })
    } catch (thrown) {
      logger.error(`Reload rejected, the previous MCP servers stay: ${toTooldexError(thrown).message}`)
    }
  }
  return {
    options: { servers: loadServers(file, env), env, secrets, redactorFor, shield },
    watch: (executor, logger, signal) => watchFiles([file.path], () => reload(executor, logger), signal),
  }
}
