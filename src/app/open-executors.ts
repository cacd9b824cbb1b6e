import type { Stores } from '../contract/stores.ts'
import { createHttpExecutor } from '../executors/http/http-executor.ts'
import { createSecretBox, openSecrets } from '../secrets/index.ts'
import type { MoreParts } from './compose.ts'

/** The executors and secrets of a process with a database. */
export function openExecutors({ secrets }: Stores, env: NodeJS.ProcessEnv) {
  const box = createSecretBox(env.TOOLDEX_SECRET_KEY || undefined)
  const places = { env, box, find: (workspace: string, name: string) => secrets.find(workspace, name) }
  const more: MoreParts = {
    executors: { http: createHttpExecutor() },
    openSecrets: (workspace) => openSecrets(places, workspace),
  }
  return { more, box }
}
