import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a folder and those above it. Step by step: the recursive call of Node 20 never returns below /proc. */
export function ensureFolder(path: string, mode?: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(path) !== path) ensureFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have been quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
}

/** The same for folders that hold keys, databases or what was learned: only their owner may enter those that are made. */
export function ensurePrivateFolder(path: string): void {
  ensureFolder(path, 0o700)
}
