import { statSync } from 'node:fs'
import type { Environment } from '../../base/expand-variables.ts'
import { findProgram } from './find-program.ts'

const maxRemembered = 500

interface Known {
  readonly path: string
  readonly stamp: string
}

/** Finds programs as `findProgram` does, and remembers them for as long as their files stay as they were. */
export class ProgramFinder {
  readonly #known = new Map<string, Known>()

  find(word: string, env: Environment, cwd: string): string {
    const key = [word, env.PATH ?? '', cwd].join('\0')
    const known = this.#known.get(key)
    if (known !== undefined && known.stamp === stampOf(known.path)) return known.path
    const path = findProgram(word, env, cwd)
    if (this.#known.size >= maxRemembered) this.#known.clear()
    this.#known.set(key, { path, stamp: stampOf(path) })
    return path
  }
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino} ${stat.mode} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
}
