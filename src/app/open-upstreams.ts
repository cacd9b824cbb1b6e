import { join } from 'node:path'
import type { Executor } from '../contract/executor.ts'
import type { SecretScope } from '../contract/secret.ts'
import { createMcpExecutor, loadServers } from '../executors/index.ts'
import { createRedactor } from '../secrets/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'

/** The executor of tools of MCP servers; which servers there are is said in a file of this machine. */
export function openUpstreams(env: NodeJS.ProcessEnv, secrets: SecretScope, given: string | undefined): Executor {
  const named = given ?? (env.TOOLDEX_MCP_SERVERS || undefined)
  const file = { path: named ?? join(tooldexHome(env), 'servers.json'), required: named !== undefined }
  const redactorFor = (declared: Readonly<Record<string, string>>) => createRedactor(declared, env)
  return createMcpExecutor({ servers: loadServers(file, env), env, secrets, redactorFor })
}
