import { resolve } from 'node:path'
import { toTooldexError } from '../../base/errors.ts'
import { watchFiles, watchFolder } from '../../base/watch-files.ts'
import type { LoadedConfig, LoadFailure, LoadResult, Source } from '../../contract/cli-config.ts'
import { isConfigFile, listConfigFiles, resolveConfig } from './config-files.ts'
import { loadConfigFile, type ParseOptions } from './parse-config.ts'

/** Options for reading configs. */
export interface CliSourceOptions extends ParseOptions {
  /** A folder whose configs belong to the source; it is watched for changes. */
  readonly folder?: string | undefined
}

/** The tools of YAML configs, given by bundled name, path or folder. */
export function createCliSource(configs: readonly string[], options: CliSourceOptions = {}): Source {
  const { folder, env } = options
  return {
    kind: 'cli',
    load: () => loadAll(configs, options),
    watch(onChange, signal) {
      watchFiles(
        configs.map((config) => resolveConfig(config, env)),
        onChange,
        signal,
      )
      if (folder !== undefined) watchFolder(folder, isConfigFile, onChange, signal)
    },
  }
}

function loadAll(named: readonly string[], { folder, ...options }: CliSourceOptions): LoadResult {
  const configs: LoadedConfig[] = []
  const failures: LoadFailure[] = []
  const files = new Set(named.map((name) => resolve(resolveConfig(name, options.env))))
  const found = folder === undefined ? [] : listConfigFiles(folder).filter((file) => !files.has(resolve(file)))
  for (const name of [...named, ...found]) {
    try {
      configs.push(loadConfigFile(name, options))
    } catch (thrown) {
      failures.push({ name, error: toTooldexError(thrown), ...(found.includes(name) ? { found: true } : {}) })
    }
  }
  return { configs, failures }
}
