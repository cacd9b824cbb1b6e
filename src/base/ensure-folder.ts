import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates a folder and its parents, one by one: the recursive call of Node 20 never returns below /proc. */
export function ensureFolder(path: string, mode?: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(path) !== path) ensureFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have created it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
}

/** The same for folders with keys, databases or learned data: only the owner may enter the created ones. */
export function ensurePrivateFolder(path: string): void {
  ensureFolder(path, 0o700)
}
