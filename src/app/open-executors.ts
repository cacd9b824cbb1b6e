import { join } from 'node:path'
import type { Stores } from '../contract/stores.ts'
import { createHttpExecutor } from '../executors/http/http-executor.ts'
import { loadServers } from '../executors/mcp/load-servers.ts'
import { createMcpExecutor } from '../executors/mcp/mcp-executor.ts'
import { createRedactor, createSecretBox, openSecrets } from '../secrets/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import { createCheck } from './check-registered.ts'
import type { MoreParts } from './compose.ts'

/** The executors and secrets of a process with a database; the MCP servers are those of a file of this machine. */
export function openExecutors({ secrets }: Stores, env: NodeJS.ProcessEnv, serversFile?: string) {
  const box = createSecretBox(env.TOOLDEX_SECRET_KEY || undefined)
  const places = { env, box, find: (workspace: string, name: string) => secrets.find(workspace, name) }
  const named = serversFile ?? (env.TOOLDEX_MCP_SERVERS || undefined)
  const file = { path: named ?? join(tooldexHome(env), 'servers.json'), required: named !== undefined }
  const mcp = createMcpExecutor({
    servers: loadServers(file, env),
    env,
    // Servers belong to the machine, and so their secrets are those of the workspace that is there from the start.
    secrets: openSecrets(places, 'default'),
    redactorFor: (declared) => createRedactor(declared, env),
  })
  const more: MoreParts = {
    executors: { http: createHttpExecutor(), mcp },
    openSecrets: (workspace) => openSecrets(places, workspace),
  }
  return { more, box, check: createCheck(more) }
}
