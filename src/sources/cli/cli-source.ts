import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { toTooldexError } from '../../base/errors.ts'
import { ensurePrivateFolder } from '../../base/home-files.ts'
import { builtConfigsDir, packageVersion } from '../../base/package-info.ts'
import { watchFiles, watchFolder } from '../../base/watch-files.ts'
import type { CliConfig, LoadedConfig, LoadFailure, LoadResult, Source } from '../../contract/cli-config.ts'
import { isConfigFile, listConfigFiles, resolveConfigPath } from './config-files.ts'
import { loadConfigFile, type ParseOptions } from './parse-config.ts'

/** Options for reading configs. */
interface CliSourceOptions extends ParseOptions {
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
        configs.map((config) => resolveConfigPath(config, env)),
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
  const files = new Set(named.map((name) => resolve(resolveConfigPath(name, options.env))))
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

// Parsing YAML dominates start-up, and equal texts give equal configs, so results are cached.
const maxFiles = 200
/** Incremented when the parsed form of a config changes. */
const format = 2

/** Caches parsed configs in files named after the hash of their text. */
export class ConfigCache {
  readonly #folder: string | undefined

  /** Without a folder, only the configs precompiled in the package are cached. */
  constructor(folder?: string) {
    this.#folder = folder
  }

  get(text: string): CliConfig | undefined {
    const name = cacheFileName(text)
    return (
      read(join(builtConfigsDir, name)) ?? (this.#folder === undefined ? undefined : read(join(this.#folder, name)))
    )
  }

  /** Writes atomically; a cache that cannot be written only costs time. */
  put(text: string, config: CliConfig): void {
    if (this.#folder === undefined) return
    const path = join(this.#folder, cacheFileName(text))
    try {
      ensurePrivateFolder(this.#folder)
      writeFileSync(`${path}.${process.pid}`, JSON.stringify(config), { mode: 0o600 })
      renameSync(`${path}.${process.pid}`, path)
      this.#prune(this.#folder)
    } catch {
      rmSync(`${path}.${process.pid}`, { force: true })
    }
  }

  #prune(folder: string): void {
    const files = readdirSync(folder).map((name) => join(folder, name))
    if (files.length <= maxFiles) return
    const byAge = files.map((path) => ({ path, time: statSync(path).mtimeMs })).sort((a, b) => b.time - a.time)
    for (const { path } of byAge.slice(maxFiles / 2)) rmSync(path, { force: true })
  }
}

/** The cache key of a text; it includes the version of Tooldex and of the parsed form. */
export function cacheFileName(text: string): string {
  return `${createHash('sha256').update(`${packageVersion()}\0${format}\0${text}`).digest('hex').slice(0, 40)}.json`
}

function read(path: string): CliConfig | undefined {
  try {
    const config = JSON.parse(readFileSync(path, 'utf8')) as Partial<CliConfig> | null
    // A truncated or foreign file is ignored.
    return Array.isArray(config?.tools) && Array.isArray(config.globalArgs) ? (config as CliConfig) : undefined
  } catch {
    return undefined
  }
}
