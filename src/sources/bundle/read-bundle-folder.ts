import { dirname, isAbsolute, resolve } from 'node:path'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { placeInBlock } from '../../base/place-in-block.ts'
import type { Problem } from '../../base/problem.ts'
import { readTextFile } from '../../base/read-text-file.ts'
import { type Bundle, type BundleTool, bundleLimits } from '../../contract/bundle.ts'
import { registryLimits } from '../../contract/registry.ts'
import { checkTogether, type PartFinding } from './check-together.ts'
import { joinParts } from './join-parts.ts'
import { isInside, listBundleFiles, realPath } from './list-bundle-files.ts'
import { type BundlePart, readPart } from './read-part.ts'

/** All that the files of a folder say. */
export interface ReadBundleFolder {
  readonly bundle: Bundle
  /** Every file that was read, scripts included. */
  readonly files: readonly string[]
  readonly warnings: readonly Problem[]
  /** A problem of a tool of the bundle, at a path of names in it, with its place in the files. */
  place(problem: Problem, index: number, path: readonly PropertyKey[]): Problem
}

/** Reads every YAML and JSON file below a folder as one bundle. Throws a TooldexError with every problem of every file. */
export function readBundleFolder(folder: string): ReadBundleFolder {
  const { root, files, problems: odd } = listBundleFiles(folder)
  const read = createReader(root)
  const parts: BundlePart[] = []
  const problems: Problem[] = [...odd]
  for (const file of files) {
    try {
      parts.push(readPart(read.text(file), { file, readScript: (path) => read.script(path, file) }))
    } catch (thrown) {
      problems.push(...toProblems(thrown, file))
    }
  }
  const complete = parts.length === files.length
  problems.push(...checkTogether(parts, complete).map(toProblem), ...parts.flatMap(({ warnings }) => warnings))
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw invalid(folder, [...errors, ...problems.filter((problem) => !errors.includes(problem))])
  const bundle = joinParts(parts)
  const place = (problem: Problem, index: number, path: readonly PropertyKey[]) =>
    placeIn(parts, read.scripts, { problem, tool: bundle.tools[index], path })
  return { bundle, files: [...read.files].sort(), warnings: problems, place }
}

/** A script that a file names. */
interface ReadScript {
  readonly from: string
  readonly path: string
  readonly text: string
}

interface ToolProblem {
  readonly problem: Problem
  readonly tool: BundleTool | undefined
  readonly path: readonly PropertyKey[]
}

function placeIn(
  parts: readonly BundlePart[],
  scripts: readonly ReadScript[],
  { problem, tool, path }: ToolProblem,
): Problem {
  const part = parts.find(({ bundle }) => tool !== undefined && bundle.tools.includes(tool))
  if (part === undefined || tool === undefined) return problem
  const { line, column = 1 } = problem
  const start = part.locate(['tools', part.bundle.tools.indexOf(tool), ...path])
  if (line === undefined) return { ...problem, file: part.file, ...start }
  // What has lines of its own is about the script.
  const own = scripts.find(({ from, text }) => from === part.file && text === tool.scriptContent)
  if (own !== undefined) return { ...problem, file: own.path }
  const found = placeInBlock(part.text, start.line, tool.scriptContent ?? '', { line, column })
  if (found !== undefined) return { ...problem, file: part.file, ...found }
  const message = `line ${line}, column ${column} of the script: ${problem.message}`
  return { ...problem, file: part.file, ...start, message }
}

/** Reads the files of one folder and nothing outside it, up to a sum. */
function createReader(root: string) {
  const files = new Set<string>()
  const scripts: ReadScript[] = []
  let left: number = bundleLimits.folderBytes
  const text = (path: string, most: number = bundleLimits.bytes) => {
    const read = readTextFile(path, most)
    left -= Buffer.byteLength(read)
    if (left < 0) throw new TooldexError('FILE_REFUSED', `The files have more than ${bundleLimits.folderBytes} bytes.`)
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

function toProblem({ part, path, message, hint, severity = 'error' }: PartFinding): Problem {
  return { severity, file: part.file, ...part.locate(path), message, ...(hint === undefined ? {} : { hint }) }
}

function invalid(folder: string, problems: readonly Problem[]): TooldexError {
  const count = problems.filter(({ severity }) => severity === 'error').length
  return new TooldexError('BUNDLE_INVALID', `${folder} has ${count} error${count === 1 ? '' : 's'}.`, { problems })
}
