import { TooldexError } from '../../base/errors.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { CliConfig, LoadedConfig } from '../../contract/cli-config.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import { listConfigNames, looksLikePath, resolveConfig } from './config-files.ts'
import { type ParseOptions, parseConfig } from './parse-config.ts'

/** Loads a config by its bundled name or its path. Throws a TooldexError that lists every problem of the file. */
export function loadConfig(nameOrPath: string, options: ParseOptions = {}): CliConfig {
  return loadConfigFile(nameOrPath, options).config
}

/** Loads a config with its warnings and its origin. */
export function loadConfigFile(nameOrPath: string, options: ParseOptions = {}): LoadedConfig {
  const path = resolveConfig(nameOrPath, options.env)
  try {
    return { ...parseConfig(readTextFile(path), path, options), name: nameOrPath }
  } catch (error) {
    const missing = error instanceof TooldexError && error.code === 'CONFIG_NOT_FOUND'
    if (!missing || looksLikePath(nameOrPath)) throw error
    const names = listConfigNames(options.env)
    throw new TooldexError('CONFIG_NOT_FOUND', `There is no config '${nameOrPath}'.${didYouMean(nameOrPath, names)}`)
  }
}
