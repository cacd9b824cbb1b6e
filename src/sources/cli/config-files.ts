import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { bundledConfigsDir } from '../../base/package-info.ts'
import { processEnv, readSetting } from '../../rules/settings.ts'

/** Resolves a bare name among the user's configs, then the bundled ones; a path is returned unchanged. */
export function resolveConfigPath(nameOrPath: string, env?: Environment): string {
  if (looksLikePath(nameOrPath)) return nameOrPath
  const found = configDirs(env)
    .map((dir) => join(dir, `${nameOrPath}.yaml`))
    .find((path) => existsSync(path))
  return found ?? nameOrPath
}

/** The config names that need no path, sorted. */
export function listConfigNames(env?: Environment): readonly string[] {
  return namesIn(configDirs(env))
}

/** The names of the bundled configs, sorted. */
export const listBundledNames = (): readonly string[] => namesIn([bundledConfigsDir])

function namesIn(folders: readonly string[]): readonly string[] {
  const files = folders.flatMap(listConfigFiles)
  return [...new Set(files.map((file) => basename(file, '.yaml')))].sort()
}

/** Whether a file name is that of a config; editors and downloads leave other files. */
export const isConfigFile = (name: string): boolean => name.endsWith('.yaml') && !name.startsWith('.')

/** The paths of the configs in a folder, sorted; empty if the folder does not exist. */
export function listConfigFiles(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter(isConfigFile)
    .sort()
    .map((name) => join(folder, name))
}

/** The folder of the user's data. */
export function tooldexHome(env?: Environment): string {
  const home = readSetting('TOOLDEX_HOME', env) ?? defaultHome(env)
  // Some clients pass a reference to an unset variable on as it is written.
  if (home.startsWith('$'))
    throw new TooldexError('HOME_UNUSABLE', `TOOLDEX_HOME refers to a variable that is not set: '${home}'.`, {
      hint: 'Set the variable TOOLDEX_HOME, or remove it from the config of the client.',
    })
  return home
}

/** The folder of the user's data where TOOLDEX_HOME is not set. */
export const defaultHome = (env?: Environment): string => join((env ?? processEnv).HOME || homedir(), '.tooldex')

/** The folder for the user's own configs. */
export function userConfigsDir(env?: Environment): string {
  return join(tooldexHome(env), 'configs')
}

const configDirs = (env?: Environment) => [userConfigsDir(env), bundledConfigsDir]

/** Whether the name of a config is a path. */
export const looksLikePath = (text: string): boolean =>
  text.includes('/') || text.includes('\\') || /\.ya?ml$/i.test(text)
