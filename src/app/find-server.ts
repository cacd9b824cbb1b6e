import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TooldexError } from '../base/errors.ts'
import { tooldexHome } from '../sources/cli/config-files.ts'
import type { ServerAddress } from '../surfaces/cli/index.ts'

/** The server to ask: the one named, by a flag or by TOOLDEX_URL, or the one that runs here. */
export function findServer(named?: string, env: NodeJS.ProcessEnv = process.env): ServerAddress | undefined {
  const url = named ?? (env.TOOLDEX_URL || undefined)
  if (url === undefined) return runningServer(env)
  if (!/^https?:$/.test(protocolOf(url)))
    throw new TooldexError('USAGE', `${named === undefined ? 'TOOLDEX_URL' : '--server'} is no address: '${url}'.`, {
      hint: 'Write it like http://127.0.0.1:7331',
    })
  // Some write the address of the API, which is below that of the server.
  const server = url.replace(/\/api\/v1\/?$/, '')
  return { url: server, key: env.TOOLDEX_API_KEY || undefined, named: true }
}

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '')

/** What a server that started here said of itself, if it is still there. */
export function runningServer(env: NodeJS.ProcessEnv = process.env): ServerAddress | undefined {
  try {
    const file = join(tooldexHome(env), 'server.json')
    const { url, pid } = JSON.parse(readFileSync(file, 'utf8')) as { url: string; pid: number }
    process.kill(pid, 0)
    return { url, key: env.TOOLDEX_API_KEY || undefined, named: false }
  } catch {
    return undefined
  }
}

/** Whether there is anywhere to look for registered tools: a server, or a database that was named or made before. */
export const hasRegistry = (env: NodeJS.ProcessEnv = process.env): boolean =>
  findServer(undefined, env) !== undefined || hasDatabase(env)

/** Whether a database was named, or made here before. */
export const hasDatabase = (env: NodeJS.ProcessEnv = process.env): boolean =>
  Boolean(env.DATABASE_URL) || existsSync(join(tooldexHome(env), 'db', 'data'))
