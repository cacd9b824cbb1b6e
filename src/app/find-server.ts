import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tooldexHome } from '../sources/cli/index.ts'
import type { ServerAddress } from '../surfaces/cli/index.ts'

/** The server to ask: the one named by TOOLDEX_URL, or the one that runs here. */
export function findServer(env: NodeJS.ProcessEnv = process.env): ServerAddress | undefined {
  const key = env.TOOLDEX_API_KEY || undefined
  if (env.TOOLDEX_URL) return { url: env.TOOLDEX_URL, key, named: true }
  const url = runningServer(tooldexHome(env))
  return url === undefined ? undefined : { url, key, named: false }
}

/** What a server that started here said of itself, if it is still there. */
function runningServer(home: string): string | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(join(home, 'server.json'), 'utf8')) as { url: string; pid: number }
    process.kill(pid, 0)
    return url
  } catch {
    return undefined
  }
}
