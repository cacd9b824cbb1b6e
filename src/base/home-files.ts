import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { TooldexError } from './errors.ts'

const full = new Set(['ENOSPC', 'EDQUOT'])
const reasons: Readonly<Record<string, string>> = {
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'a part of the path is a file, not a folder',
  ENOENT: 'it cannot be created there',
  EIO: 'the disk reports an error',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its symbolic links form a loop',
}

/** Converts a file system error below TOOLDEX_HOME to one with the path, the reason and the next step; returns others unchanged. */
export function toHomeError(thrown: unknown, path: string, use: 'read' | 'written' = 'written'): unknown {
  if (!(thrown instanceof Error) || thrown instanceof TooldexError) return thrown
  const { code = '' } = thrown as NodeJS.ErrnoException
  if (full.has(code))
    return new TooldexError('DISK_FULL', `There is no space left to write ${path}.`, { cause: thrown })
  const reason = reasons[code]
  if (reason === undefined) return thrown
  return new TooldexError('HOME_UNUSABLE', `${path} cannot be ${use}: ${reason} (${code}).`, { cause: thrown })
}

/** Runs work on files below TOOLDEX_HOME, with its errors converted by `toHomeError`. */
export function withHomeErrors<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (thrown) {
    throw toHomeError(thrown, path)
  }
}

/** Whether a path below TOOLDEX_HOME exists; a path that this user may not look up is an error, because it may exist. */
export function existsInHome(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw toHomeError(thrown, path, 'read')
  }
}

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
