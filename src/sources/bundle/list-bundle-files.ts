import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import { bundleLimits, splitHint } from '../../contract/bundle.ts'

/** The files of a folder that may contain tools, with problems of those that cannot be read. */
export interface BundleFiles {
  /** Its real path. */
  readonly root: string
  readonly files: readonly string[]
  readonly problems: readonly Problem[]
}

/** Lists all YAML and JSON files below a folder, sorted by path, without hidden ones; links must stay inside. */
export function listBundleFiles(folder: string): BundleFiles {
  const root = realFolder(folder)
  const files: string[] = []
  const problems: Problem[] = []
  const visit = (path: string, depth: number) => {
    if (depth > bundleLimits.folderDepth) throw refuse(path, `is more than ${bundleLimits.folderDepth} folders deep`)
    for (const entry of readdirSync(path, { withFileTypes: true }).sort(byName)) {
      const found = join(path, entry.name)
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      if (entry.isDirectory()) visit(found, depth + 1)
      else if (entry.isSymbolicLink()) problems.push(...addLinkedFile(root, found, files))
      else if (isBundleName(entry.name)) files.push(found)
      if (files.length > bundleLimits.files) throw tooMany(folder, `has more than ${bundleLimits.files} files`)
    }
  }
  visit(root, 0)
  return { root, files: [...new Set(files)], problems }
}

/** Follows links to files inside the folder only. */
function addLinkedFile(root: string, path: string, files: string[]): readonly Problem[] {
  const tell = (severity: Problem['severity'], message: string, hint?: string) => [
    { severity, file: path, message, ...(hint === undefined ? {} : { hint }) } as const,
  ]
  const target = realPath(path)
  if (target === undefined)
    return isBundleName(path) ? tell('error', 'the target of the link does not exist', 'remove it') : []
  if (statSync(target).isDirectory()) return tell('warning', 'the link to a folder is not followed')
  if (!isBundleName(path)) return []
  if (!isInside(root, target))
    return tell('error', 'the target of the link is outside the folder', 'copy the file into the folder')
  files.push(target)
  return []
}

/** Whether a real path is below a real folder. */
export const isInside = (root: string, path: string): boolean =>
  path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

/** The target of a path, if it exists. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function realFolder(folder: string): string {
  const root = realPath(folder)
  if (root === undefined)
    throw new TooldexError('CONFIG_NOT_FOUND', `${folder} does not exist.`, { hint: 'Check its path.' })
  if (!lstatSync(root).isDirectory()) throw refuse(folder, 'is not a folder')
  return root
}

const isBundleName = (name: string) => /\.(?:ya?ml|json)$/i.test(name)
/** The error for a folder above a limit. */
export const tooMany = (folder: string, why: string) =>
  new TooldexError('FILE_REFUSED', `${folder} ${why}.`, { hint: `Too much for one folder: ${splitHint}` })
const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : Number(a.name > b.name))
const refuse = (path: string, why: string) =>
  new TooldexError('FILE_REFUSED', `${path} ${why}.`, { hint: 'Give a folder with the files of your tools only.' })
