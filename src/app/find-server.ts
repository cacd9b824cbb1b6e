import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TooldexError } from '../base/errors.ts'
import type { Environment } from '../base/expand-variables.ts'
import { existsInHome } from '../base/file-system.ts'
import { readSetting } from '../rules/settings.ts'
import { tooldexHome } from '../sources/cli/config-files.ts'
import type { ServerAddress } from '../surfaces/cli/index.ts'

/** The server for requests: named by a flag or TOOLDEX_URL, or the local server. */
export function findServer(named?: string, env?: Environment): ServerAddress | undefined {
  const url = named ?? readSetting('TOOLDEX_URL', env)
  if (url === undefined) return runningServer(env)
  if (!/^https?:$/.test(protocolOf(url)))
    throw new TooldexError(
      'USAGE',
      `${named === undefined ? 'TOOLDEX_URL' : '--server'} is not a valid URL: '${url}'.`,
      {
        hint: 'Set it to something like http://127.0.0.1:7331.',
      },
    )
  // The URL of the API is accepted as well.
  const server = url.replace(/\/api\/v1\/?$/, '')
  return { url: server, key: readSetting('TOOLDEX_API_KEY', env), named: true }
}

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '')

/** The local server by its server.json, if it still runs. */
export function runningServer(env?: Environment): ServerAddress | undefined {
  const file = join(tooldexHome(env), 'server.json')
  // With PostgreSQL nothing else needs TOOLDEX_HOME.
  if (readSetting('DATABASE_URL', env) === undefined && !existsInHome(file)) return undefined
  try {
    const { url, pid } = JSON.parse(readFileSync(file, 'utf8')) as { url: string; pid: number }
    process.kill(pid, 0)
    return { url, key: readSetting('TOOLDEX_API_KEY', env), named: false }
  } catch {
    return undefined
  }
}

/** Whether a registry exists: a server, or a named or existing database. */
export const hasRegistry = (env?: Environment): boolean => findServer(undefined, env) !== undefined || hasDatabase(env)

/** Whether DATABASE_URL is set or the embedded database exists. */
export const hasDatabase = (env?: Environment): boolean =>
  readSetting('DATABASE_URL', env) !== undefined || existsInHome(join(tooldexHome(env), 'db', 'data'))
