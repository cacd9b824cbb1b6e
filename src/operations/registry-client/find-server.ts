import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { ensurePrivateFolder, existsInHome, withHomeErrors } from '../../base/home-files.ts'
import type { Logger } from '../../base/logger.ts'
import { readSetting } from '../../rules/settings.ts'
import { tooldexHome } from '../../sources/cli/config-files.ts'

/** The URL of a server, and the key for requests to it. */
export interface ServerAddress {
  readonly url: string
  readonly key: string | undefined
  /** Whether a flag or the environment names the server, rather than that it was found running locally. */
  readonly named: boolean
}

/** The server for requests: named by a flag or TOOLDEX_URL, or the local server. */
export function findServer(named?: string, env?: Environment): ServerAddress | undefined {
  const url = named ?? readSetting('TOOLDEX_URL', env)
  if (url === undefined) return findRunningServer(env)
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
export function findRunningServer(env?: Environment): ServerAddress | undefined {
  const file = serverFile(tooldexHome(env))
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
export const registryExists = (env?: Environment): boolean =>
  findServer(undefined, env) !== undefined || databaseExists(env)

/** Whether DATABASE_URL is set or the embedded database exists. */
export const databaseExists = (env?: Environment): boolean =>
  readSetting('DATABASE_URL', env) !== undefined || existsInHome(join(tooldexHome(env), 'db', 'data'))

/** Removes server.json, unless another server has replaced it. */
export function removeServerFile(file: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid?: unknown }
    if (pid === process.pid) rmSync(file, { force: true })
  } catch {
    // The file is already gone.
  }
}

/** Writes server.json, so that commands find this server; without it they need its URL. */
export function writeServerFile(home: string, url: string, logger: Logger): string {
  const file = serverFile(home)
  const text = `${JSON.stringify({ url, pid: process.pid, startedAt: new Date().toISOString() })}\n`
  try {
    withHomeErrors(file, () => {
      ensurePrivateFolder(home)
      writeFileSync(file, text, { mode: 0o600 })
    })
  } catch (thrown) {
    logger.warn(`Commands on this machine need the URL of this server: TOOLDEX_URL=${url}`, {
      reason: toTooldexError(thrown).message,
    })
  }
  return file
}

const serverFile = (home: string): string => join(home, 'server.json')
