import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toTooldexError } from '../../base/errors.ts'
import { ensurePrivateFolder, withHomeErrors } from '../../base/home-files.ts'
import type { Logger } from '../../base/logger.ts'
import type { Stores } from '../../contract/stores.ts'
import { readSetting } from '../../rules/settings.ts'
import type { SecretKeySource } from '../../secrets/index.ts'
import { tooldexHome } from '../../sources/cli/index.ts'

const fileOf = (env: NodeJS.ProcessEnv): string => join(tooldexHome(env), 'secret.key')

/** The key that stored secrets are encrypted with: TOOLDEX_SECRET_KEY, or `secret.key` in TOOLDEX_HOME. */
export function secretKeySourceOf(env: NodeJS.ProcessEnv): SecretKeySource {
  const file = fileOf(env)
  const read = () => readSetting('TOOLDEX_SECRET_KEY', env) ?? readKey(file)
  return { read, make: () => makeKey(file) ?? (read() as string) }
}

/**
 * Creates the key at the first start of a server and returns its file. A database that already has secrets needs the key
 * that encrypted them.
 */
export async function ensureSecretKey(
  env: NodeJS.ProcessEnv,
  { secrets }: Pick<Stores, 'secrets'>,
  logger: Logger,
): Promise<string | undefined> {
  if (secretKeySourceOf(env).read() !== undefined || (await secrets.list('default')).length > 0) return undefined
  const file = fileOf(env)
  try {
    return makeKey(file) === undefined ? undefined : file
  } catch (thrown) {
    logger.warn('Secrets cannot be stored without TOOLDEX_SECRET_KEY.', { reason: toTooldexError(thrown).message })
    return undefined
  }
}

const readKey = (file: string): string | undefined =>
  existsSync(file) ? withHomeErrors(file, () => readFileSync(file, 'utf8').trim()) : undefined

/** Returns undefined if another process was first. */
function makeKey(file: string): string | undefined {
  const key = randomBytes(32).toString('base64url')
  return withHomeErrors(file, () => {
    ensurePrivateFolder(join(file, '..'))
    try {
      writeFileSync(file, `${key}\n`, { flag: 'wx', mode: 0o600 })
      return key
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      return undefined
    }
  })
}
