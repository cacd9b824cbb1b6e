import { TooldexError } from './errors.ts'

const full = new Set(['ENOSPC', 'EDQUOT'])
const reasons: Readonly<Record<string, string>> = {
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOTDIR: 'a file is in the place of a folder',
  EEXIST: 'a file is in the place of a folder',
  ENOENT: 'it cannot be created there',
  EIO: 'the disk reports an error',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its links lead in a circle',
}

/** An error of the file system below TOOLDEX_HOME as one that names the path, the reason and the next step; others stay. */
export function toHomeError(thrown: unknown, path: string): unknown {
  if (!(thrown instanceof Error) || thrown instanceof TooldexError) return thrown
  const { code = '' } = thrown as NodeJS.ErrnoException
  if (full.has(code))
    return new TooldexError('DISK_FULL', `There is no space left to write ${path}.`, { cause: thrown })
  const reason = reasons[code]
  if (reason === undefined) return thrown
  return new TooldexError('HOME_UNUSABLE', `${path} cannot be written: ${reason} (${code}).`, { cause: thrown })
}

/** Does work on files below TOOLDEX_HOME. */
export function inHome<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (thrown) {
    throw toHomeError(thrown, path)
  }
}
