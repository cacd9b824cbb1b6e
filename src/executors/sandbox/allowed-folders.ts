import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { TooldexError } from '../../base/errors.ts'

/** A folder of the machine that tools in a sandbox may use. */
export interface AllowedFolder {
  readonly path: string
  readonly writable: boolean
}

// Parts of every sandbox, and what describes the machine itself.
const notAllowed = /^\/(?:(?:proc|sys)(?:\/.*)?|dev(?:\/(?!shm\/).*)?|work|tmp)?$/

/** Reads `PATH[:ro|:rw]` words; a folder that has the files of the server itself in it, or lies in them, is refused. */
export function readAllowedFolders(words: readonly string[], home?: string | undefined): readonly AllowedFolder[] {
  return words.map((word) => {
    const [, given = '', mode] = /^(.*?)(?::(ro|rw))?$/s.exec(word) ?? []
    const path = realPath(resolve(given))
    const refused = (why: string) =>
      new TooldexError('USAGE', `--allow-folder: ${given} ${why}.`, {
        hint: 'Name a folder that exists, with :ro or :rw behind it, and that has nothing of TOOLDEX_HOME in it.',
      })
    if (path === undefined || !statSync(path).isDirectory()) throw refused('is not a folder')
    if (notAllowed.test(path)) throw refused('cannot be shown to tools; name a folder below it')
    const own = home === undefined ? undefined : (realPath(home) ?? resolve(home))
    if (own !== undefined && (isIn(own, path) || isIn(path, own)))
      throw refused(`would show tools the files of the server itself (${own})`)
    return { path, writable: mode === 'rw' }
  })
}

/** Words of a list like PATH: `/a:rw:/b`. */
export const splitFolderList = (list: string): readonly string[] =>
  list.split(/:(?!(?:ro|rw)(?::|$))/).filter((word) => word !== '')

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
