import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { bundledConfigsDir } from '../../base/package-info.ts'
import { readTextFile } from '../../base/read-text-file.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { CliConfig } from '../../contract/cli-config.ts'
import type { LoadedConfig } from '../../contract/source.ts'
import { type ParseOptions, parseConfig } from './parse-config.ts'

/** Loads a config by its bundled name or its path. Throws a TooldexError that lists every problem of the file. */
export function loadConfig(nameOrPath: string, options: ParseOptions = {}): CliConfig {
  return loadConfigFile(nameOrPath, options).config
}

/** Loads a config together with its warnings and where it came from. */
export function loadConfigFile(nameOrPath: string, options: ParseOptions = {}): LoadedConfig {
  const path = resolveConfig(nameOrPath, options.env ?? process.env)
  try {
    return { ...parseConfig(readTextFile(path), path, options), name: nameOrPath }
  } catch (error) {
    const missing = error instanceof TooldexError && error.code === 'CONFIG_NOT_FOUND'
    if (!missing || looksLikePath(nameOrPath)) throw error
    const names = listConfigNames(options.env)
    throw new TooldexError('CONFIG_NOT_FOUND', `There is no config '${nameOrPath}'.${didYouMean(nameOrPath, names)}`)
  }
}

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

const looksLikePath = (text: string) => text.includes('/') || text.includes('\\') || /\.ya?ml$/i.test(text)
