import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Mount } from './bubblewrap-arguments.ts'

/** The system's own Python is seen anyway; another one brings the folder it is installed in. */
export function interpreterMounts(python: string): readonly Mount[] {
  const found = [python, realpathSync(python)].filter((path) => !/^\/(usr|bin|lib)\//.test(path))
  const folders = new Set(found.map((path) => prefixOf(dirname(path))))
  return [...folders].map((folder) => ({ source: folder, target: folder }))
}

/** What belongs to a program in a folder `bin` lies beside that; another one is all there is in its folder. */
const prefixOf = (folder: string): string => (basename(folder) === 'bin' ? dirname(folder) : folder)
