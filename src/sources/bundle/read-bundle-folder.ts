import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { type Problem, toPointer } from '../../base/problem.ts'
import { bundleKinds, bundleLimits, splitHint } from '../../contract/bundle.ts'
import { registryLimits } from '../../contract/registry.ts'
import { findingToProblem } from '../../diagnostics/finding.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import { checkBundleNames, type PartFinding } from './check-content.ts'
import { locateBundle, type ReadBundle, type ScriptFile } from './locate-bundle.ts'
import { type BundlePart, loadOpenApiReader, readBundlePart } from './read-part.ts'

/** Reads every YAML and JSON file below a folder as one bundle, with every problem of every file, errors first. */
export async function readBundleFolder(folder: string): Promise<ReadBundle & { readonly files: readonly string[] }> {
  const { root, files, problems: odd } = listBundleFiles(folder)
  const read = createReader(root)
  const parts: BundlePart[] = []
  const problems: Problem[] = [...odd]
  for (const file of files) {
    try {
      const text = read.text(file)
      const openApi = await loadOpenApiReader(text, {}, true)
      const part = readBundlePart(text, { file, openApi, readScript: (path) => read.script(path, file) })
      parts.push(part)
      problems.push(...part.problems)
    } catch (thrown) {
      problems.push(...toProblems(thrown, file))
    }
  }
  problems.push(...checkParts(parts, files.length))
  const errors = problems.filter(({ severity }) => severity === 'error')
  const warnings = problems.filter(({ severity }) => severity === 'warning')
  const joined = locateBundle(parts, [...errors, ...warnings], read.scripts)
  for (const kind of bundleKinds)
    if (joined.bundle[kind].length > bundleLimits[kind])
      throw tooMany(folder, `has more than ${bundleLimits[kind]} ${kind}`)
  return { ...joined, files: [...read.files].sort() }
}

/** Problems between files; unknown categories are reported only if all files could be read. */
function checkParts(parts: readonly BundlePart[], files: number): readonly Problem[] {
  const complete = parts.length === files && parts.every(({ wrong }) => !wrong.some(([kind]) => kind === 'categories'))
  const wrong = new Set(parts.flatMap((part) => part.wrong.map((path) => placeKey(part, path))))
  return checkBundleNames(parts, complete)
    .filter(({ part, path }) => !wrong.has(placeKey(part, path)))
    .map(inFile)
}

const placeKey = ({ file }: { readonly file: string }, path: readonly PropertyKey[]) => `${file}\n${toPointer(path)}`

/** Reads files inside one folder only, up to a total size. */
function createReader(root: string) {
  const files = new Set<string>()
  const scripts: ScriptFile[] = []
  let left: number = bundleLimits.folderBytes
  const text = (path: string, most: number = bundleLimits.documentBytes) => {
    const read = readTextFile(path, most, splitHint)
    left -= Buffer.byteLength(read)
    if (left < 0) throw tooMany(root, `has more than ${bundleLimits.folderBytes} bytes in its files`)
    files.add(path)
    return read
  }
  const script = (path: string, from: string) => {
    const target = isAbsolute(path) ? undefined : realPath(resolve(dirname(from), path))
    if (target === undefined)
      throw new TooldexError('FILE_REFUSED', `there is no file ${path} beside this one`, wayHint)
    if (!isInside(root, target)) throw new TooldexError('FILE_REFUSED', `${path} leads out of the folder`, wayHint)
    const read = text(target, 4 * registryLimits.script)
    scripts.push({ from, path: target, text: read })
    return read
  }
  return { files, scripts, text, script }
}

const wayHint = { hint: 'give a path relative to this file, such as ./name.py' }

function toProblems(thrown: unknown, file: string): readonly Problem[] {
  const { problems, message, hint } = toTooldexError(thrown)
  return problems.length > 0 ? problems : [{ severity: 'error', file, message, hint }]
}

const inFile = (finding: PartFinding): Problem => ({
  ...findingToProblem(finding),
  file: finding.part.file,
  ...finding.part.locate(finding.path),
})

/** The files of a folder that may contain tools, with problems of those that cannot be read. */
interface BundleFiles {
  /** Its real path. */
  readonly root: string
  readonly files: readonly string[]
  readonly problems: readonly Problem[]
}

/** Lists all YAML and JSON files below a folder, sorted by path, without hidden ones; links must stay inside. */
function listBundleFiles(folder: string): BundleFiles {
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
const isInside = (root: string, path: string): boolean => path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

/** The target of a path, if it exists. */
function realPath(path: string): string | undefined {
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
const tooMany = (folder: string, why: string) =>
  new TooldexError('FILE_REFUSED', `${folder} ${why}.`, { hint: `Too much for one folder: ${splitHint}` })
const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : Number(a.name > b.name))
const refuse = (path: string, why: string) =>
  new TooldexError('FILE_REFUSED', `${path} ${why}.`, { hint: 'Give a folder with the files of your tools only.' })
