import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Mount } from './bubblewrap-arguments.ts'

/** The mounts of a Python interpreter: none for that of the system, else its installation folder. */
export function interpreterMounts(python: string): readonly Mount[] {
  const found = [python, realpathSync(python)].filter((path) => !/^\/(usr|bin|lib)\//.test(path))
  const folders = new Set(found.map((path) => prefixOf(dirname(path))))
  return [...folders].map((folder) => ({ source: folder, target: folder }))
}

/** The installation folder: the parent of `bin`, or the folder of the program itself. */
const prefixOf = (folder: string): string => (basename(folder) === 'bin' ? dirname(folder) : folder)
