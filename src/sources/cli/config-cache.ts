import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrivateFolder } from '../../base/file-system.ts'
import { builtConfigsDir, packageVersion } from '../../base/package-info.ts'
import type { CliConfig } from '../../contract/cli-config.ts'

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
    const name = fileName(text)
    return (
      read(join(builtConfigsDir, name)) ?? (this.#folder === undefined ? undefined : read(join(this.#folder, name)))
    )
  }

  /** Writes atomically; a cache that cannot be written only costs time. */
  put(text: string, config: CliConfig): void {
    if (this.#folder === undefined) return
    const path = join(this.#folder, fileName(text))
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
export function fileName(text: string): string {
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
