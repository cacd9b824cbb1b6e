import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import type { Environment } from '../../base/expand-variables.ts'
import { bundledConfigsDir } from '../../base/package-info.ts'

/** A path stays a path; a bare name is looked for among the user's own configs, then among the bundled ones. */
export function resolveConfig(nameOrPath: string, env: Environment = process.env): string {
  if (looksLikePath(nameOrPath)) return nameOrPath
  const found = configDirs(env)
    .map((dir) => join(dir, `${nameOrPath}.yaml`))
    .find((path) => existsSync(path))
  return found ?? nameOrPath
}

/** The names that can be given without a path, sorted. */
export function listConfigNames(env: Environment = process.env): readonly string[] {
  return namesIn(configDirs(env))
}

/** The names of the configs that come with the package, sorted. */
export const listBundledNames = (): readonly string[] => namesIn([bundledConfigsDir])

function namesIn(folders: readonly string[]): readonly string[] {
  const files = folders.flatMap(listConfigFiles)
  return [...new Set(files.map((file) => basename(file, '.yaml')))].sort()
}

/** Whether a file of this name in a folder of configs is one; editors and downloads leave others beside them. */
export const isConfigFile = (name: string): boolean => name.endsWith('.yaml') && !name.startsWith('.')

/** The paths of the configs in a folder, sorted; none where there is no such folder. */
export function listConfigFiles(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter(isConfigFile)
    .sort()
    .map((name) => join(folder, name))
}

/** Where Tooldex keeps what belongs to the user. */
export function tooldexHome(env: Environment = process.env): string {
  return env.TOOLDEX_HOME || join(env.HOME || homedir(), '.tooldex')
}

/** The folder for the user's own configs. */
export function userConfigsDir(env: Environment = process.env): string {
  return join(tooldexHome(env), 'configs')
}

const configDirs = (env: Environment) => [userConfigsDir(env), bundledConfigsDir]

/** Whether a config is named by a path. */
export const looksLikePath = (text: string): boolean =>
  text.includes('/') || text.includes('\\') || /\.ya?ml$/i.test(text)
