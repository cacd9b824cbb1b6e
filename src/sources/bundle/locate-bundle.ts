import { fromPointer, type Problem, toPointer } from '../../base/problem.ts'
import type { Bundle, BundleTool } from '../../contract/bundle.ts'
import { placeInBlock } from '../../documents/locate-in-block.ts'
import { joinParts } from './join-parts.ts'
import type { BundlePart } from './read-part.ts'

/** A bundle of which it is known where it stands. */
export interface LocatedBundle {
  readonly bundle: Bundle
  /** A problem at a JSON pointer into the bundle, with its place in the files. */
  place(problem: Problem): Problem
}

/** A script that a file names. */
export interface ScriptFile {
  readonly from: string
  readonly path: string
  readonly text: string
}

/** Where a tool of the joined bundle comes from. */
interface Origin {
  readonly part: BundlePart
  readonly index: number
  readonly tool: BundleTool
}

/** Some files as one bundle that still knows where each of its tools stood, and where nothing can be said of it. */
export function locateBundle(parts: readonly BundlePart[], scripts: readonly ScriptFile[] = []) {
  const bundle = joinParts(parts)
  const origins = new Map<BundleTool, Origin>()
  for (const part of parts)
    for (const [index, tool] of part.bundle.tools.entries()) origins.set(tool, { part, index, tool })
  const place = (problem: Problem): Problem => {
    const [kind, index, ...path] = fromPointer(problem.pointer ?? '')
    const tool = kind === 'tools' ? bundle.tools[Number(index)] : undefined
    const origin = tool === undefined ? undefined : origins.get(tool)
    if (origin === undefined) return problem
    // The order of the files is not that of the bundle, so a pointer would lead astray.
    const { pointer: _pointer, ...told } = problem
    return placeIn(origin, scripts, { problem: told, path })
  }
  return { bundle, place, wrong: findWrong(parts, bundle) }
}

/** Where the files are wrong, as pointers into the bundle that they make; what is not about one tool is about none. */
function findWrong(parts: readonly BundlePart[], bundle: Bundle): readonly string[] {
  const places = new Map(bundle.tools.map((tool, index) => [tool, index]))
  return parts.flatMap(({ wrong, bundle: own }) =>
    wrong.flatMap(([kind, index, ...path]) => {
      const tool = kind === 'tools' ? own.tools[Number(index)] : undefined
      return tool === undefined ? [] : [toPointer(['tools', places.get(tool) ?? -1, ...path])]
    }),
  )
}

function placeIn(
  { part, index, tool }: Origin,
  scripts: readonly ScriptFile[],
  { problem, path }: { readonly problem: Problem; readonly path: readonly string[] },
): Problem {
  const { line, column = 1 } = problem
  const start = part.locate(['tools', index, ...path])
  if (line === undefined) return { ...problem, file: part.file, ...start }
  // What has lines of its own is about the script.
  const own = scripts.find(({ from, text }) => from === part.file && text === tool.scriptContent)
  if (own !== undefined) return { ...problem, file: own.path }
  const found = placeInBlock(part.text, start.line, tool.scriptContent ?? '', { line, column })
  if (found !== undefined) return { ...problem, file: part.file, ...found }
  const message = `line ${line}, column ${column} of the script: ${problem.message}`
  return { ...problem, file: part.file, ...start, message }
}
