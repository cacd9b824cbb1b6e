import { statSync } from 'node:fs'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { findProgram } from './find-program.ts'

const maxEntries = 500

interface CacheEntry {
  readonly path: string
  readonly stamp: string
}

/** Caches the results of `findProgram` while the files are unchanged. */
export class ProgramFinder {
  readonly #cache = new BoundedMap<string, CacheEntry>(maxEntries)

  find(word: string, env: Environment, cwd: string): string {
    const key = [word, env.PATH ?? '', cwd].join('\0')
    const cached = this.#cache.get(key)
    if (cached !== undefined && cached.stamp === stampOf(cached.path)) return cached.path
    const path = findProgram(word, env, cwd)
    this.#cache.set(key, { path, stamp: stampOf(path) })
    return path
  }
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino} ${stat.mode} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
}
