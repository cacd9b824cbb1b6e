import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Mount } from './bubblewrap-words.ts'

/** The system's own Python is seen anyway; another one brings the folder it is installed in. */
export function interpreterMounts(python: string): readonly Mount[] {
  const found = [python, realpathSync(python)].filter((path) => !/^\/(usr|bin|lib)\//.test(path))
  const folders = new Set(found.map((path) => dirname(dirname(path))))
  return [...folders].map((folder) => ({ source: folder, target: folder }))
}
