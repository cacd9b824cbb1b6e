import { join } from 'node:path'
import { toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import { watchFiles } from '../base/watch-files.ts'
import type { Executor } from '../contract/executor.ts'
import type { SecretScope } from '../contract/secret.ts'
import { createMcpExecutor, loadServers, type Shield } from '../executors/index.ts'
import { createRedactor } from '../secrets/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'

/** The tools of MCP servers, and the file of this machine that defines the servers. */
interface OpenUpstreams {
  readonly executor: Executor
  /** Reloads the file on changes until the signal is aborted; an invalid file is logged and ignored. */
  watch(logger: Logger, signal: AbortSignal): void
}

/** Opens the executor of tools of MCP servers, with the servers that the file defines now. */
export function openUpstreams(
  env: NodeJS.ProcessEnv,
  secrets: SecretScope,
  { mcpServers, shield }: { readonly mcpServers?: string | undefined; readonly shield?: Shield | undefined },
): OpenUpstreams {
  const named = mcpServers ?? (env.TOOLDEX_MCP_SERVERS || undefined)
  const file = { path: named ?? join(tooldexHome(env), 'servers.json'), required: named !== undefined }
  const redactorFor = (declared: Readonly<Record<string, string>>) => createRedactor(declared, env)
  const executor = createMcpExecutor({ servers: loadServers(file, env), env, secrets, redactorFor, shield })
  const reload = (logger: Logger): void => {
    try {
      executor.replaceServers(loadServers(file, env))
      logger.info('MCP servers reloaded', { file: file.path })
    } catch (thrown) {
      logger.error(`Reload rejected, the previous MCP servers stay: ${toTooldexError(thrown).message}`)
    }
  }
  return { executor, watch: (logger, signal) => watchFiles([file.path], () => reload(logger), signal) }
}
