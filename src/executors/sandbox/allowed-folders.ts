import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { TooldexError } from '../../base/errors.ts'

/** A folder of the machine that tools in a sandbox may use. */
export interface AllowedFolder {
  readonly path: string
  readonly writable: boolean
}

// Parts of every sandbox, and the pseudo file systems of the machine.
const notAllowed = /^\/(?:(?:proc|sys)(?:\/.*)?|dev(?:\/(?!shm\/).*)?|work|tmp)?$/

/** Parses `PATH[:ro|:rw]` arguments; a folder that contains the home of the server, or lies in it, is rejected. */
export function readAllowedFolders(args: readonly string[], home?: string | undefined): readonly AllowedFolder[] {
  return args.map((arg) => {
    const [, input = '', mode] = /^(.*?)(?::(ro|rw))?$/s.exec(arg) ?? []
    const path = realPath(resolve(input))
    const refused = (why: string) =>
      new TooldexError('USAGE', `--allow-folder: ${input} ${why}.`, {
        hint: 'Pass an existing folder outside TOOLDEX_HOME, followed by :ro or :rw.',
      })
    if (path === undefined || !statSync(path).isDirectory()) throw refused('is not a folder')
    if (notAllowed.test(path)) throw refused('cannot be made visible to tools; pass a folder below it')
    const own = home === undefined ? undefined : (realPath(home) ?? resolve(home))
    if (own !== undefined && (isIn(own, path) || isIn(path, own)))
      throw refused(`would make the files of the server (${own}) visible to tools`)
    return { path, writable: mode === 'rw' }
  })
}

/** Splits a list in the form of PATH: `/a:rw:/b`. */
export const splitFolderList = (list: string): readonly string[] =>
  list.split(/:(?!(?:ro|rw)(?::|$))/).filter((arg) => arg !== '')

/** Whether a path is a folder or lies in it. */
export const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** The allowed folder that a path lies in, the innermost first. */
export const folderOf = (path: string, folders: readonly AllowedFolder[]): AllowedFolder | undefined =>
  folders.filter((folder) => isIn(path, folder.path)).sort((a, b) => b.path.length - a.path.length)[0]

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
