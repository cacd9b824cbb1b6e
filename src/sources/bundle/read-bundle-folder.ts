import { dirname, isAbsolute, resolve } from 'node:path'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { type Problem, toPointer } from '../../base/problem.ts'
import { bundleLimits, splitHint } from '../../contract/bundle.ts'
import { registryLimits } from '../../contract/registry.ts'
import { detailsOf } from '../../diagnostics/finding.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import { checkTogether, type PartFinding } from './check-references.ts'
import { isInside, listBundleFiles, realPath, tooMany } from './list-bundle-files.ts'
import { locateBundle, type ReadBundle, type ScriptFile } from './locate-bundle.ts'
import { type BundlePart, readBundlePart } from './read-part.ts'

/** Reads every YAML and JSON file below a folder as one bundle, with every problem of every file, errors first. */
export function readBundleFolder(folder: string): ReadBundle & { readonly files: readonly string[] } {
  const { root, files, problems: odd } = listBundleFiles(folder)
  const read = createReader(root)
  const parts: BundlePart[] = []
  const problems: Problem[] = [...odd]
  for (const file of files) {
    try {
      const part = readBundlePart(read.text(file), { file, readScript: (path) => read.script(path, file) })
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
  for (const kind of ['tools', 'categories', 'policies'] as const)
    if (joined.bundle[kind].length > bundleLimits[kind])
      throw tooMany(folder, `has more than ${bundleLimits[kind]} ${kind}`)
  return { ...joined, files: [...read.files].sort() }
}

/** Problems between files; unknown categories are reported only if all files could be read. */
function checkParts(parts: readonly BundlePart[], files: number): readonly Problem[] {
  const complete = parts.length === files && parts.every(({ wrong }) => !wrong.some(([kind]) => kind === 'categories'))
  const wrong = new Set(parts.flatMap((part) => part.wrong.map((path) => placeKey(part, path))))
  return checkTogether(parts, complete)
    .filter(({ part, path }) => !wrong.has(placeKey(part, path)))
    .map(inFile)
}

const placeKey = ({ file }: { readonly file: string }, path: readonly PropertyKey[]) => `${file}\n${toPointer(path)}`

/** Reads files inside one folder only, up to a total size. */
function createReader(root: string) {
  const files = new Set<string>()
  const scripts: ScriptFile[] = []
  let left: number = bundleLimits.folderBytes
  const text = (path: string, most: number = bundleLimits.bytes) => {
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
  ...detailsOf(finding),
  file: finding.part.file,
  ...finding.part.locate(finding.path),
})
