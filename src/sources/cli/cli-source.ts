import { toTooldexError } from '../../base/errors.ts'
import { watchFiles } from '../../base/watch-files.ts'
import type { LoadedConfig, LoadFailure, LoadResult, Source } from '../../contract/source.ts'
import { loadConfigFile, resolveConfig } from './load-config.ts'
import type { ParseOptions } from './parse-config.ts'

/** The tools of some YAML configs, given by bundled name or path. */
export function createCliSource(configs: readonly string[], options: ParseOptions = {}): Source {
  return {
    kind: 'cli',
    load: () => loadAll(configs, options),
    watch(onChange, signal) {
      watchFiles(
        configs.map((config) => resolveConfig(config, options.env)),
        onChange,
        signal,
      )
    },
  }
}

function loadAll(names: readonly string[], options: ParseOptions): LoadResult {
  const configs: LoadedConfig[] = []
  const failures: LoadFailure[] = []
  for (const name of names) {
    try {
      configs.push(loadConfigFile(name, options))
    } catch (thrown) {
      failures.push({ name, error: toTooldexError(thrown) })
    }
  }
  return { configs, failures }
}
