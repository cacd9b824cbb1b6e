import { fromPointer, type Problem, toPointer } from '../../base/problem.ts'
import type { Bundle, BundleTool } from '../../contract/bundle.ts'
import { placeInBlock } from '../../documents/locate-in-block.ts'
import { joinParts } from './join-parts.ts'
import type { BundlePart } from './read-part.ts'

/** A bundle with the source positions of its parts. */
export interface LocatedBundle {
  readonly bundle: Bundle
  /** Adds the position in the files to a problem at a JSON pointer. */
  place(problem: Problem): Problem
}

/** A script file that a tool references. */
export interface ScriptFile {
  readonly from: string
  readonly path: string
  readonly text: string
}

/** The origin of a tool of the joined bundle. */
interface Origin {
  readonly part: BundlePart
  readonly index: number
  readonly tool: BundleTool
}

/** Joins files into one bundle with the positions of its tools and the pointers of its invalid parts. */
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
    // Files and bundle differ in order, so a pointer would be misleading.
    const { pointer: _pointer, ...rest } = problem
    return placeIn(origin, scripts, { problem: rest, path })
  }
  return { bundle, place, wrong: findWrong(parts, bundle) }
}

/** Pointers into the joined bundle for the invalid parts of the files; problems outside tools have none. */
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
  // A problem with its own line is in the script.
  const own = scripts.find(({ from, text }) => from === part.file && text === tool.scriptContent)
  if (own !== undefined) return { ...problem, file: own.path }
  const found = placeInBlock(part.text, start.line, tool.scriptContent ?? '', { line, column })
  if (found !== undefined) return { ...problem, file: part.file, ...found }
  const message = `line ${line}, column ${column} of the script: ${problem.message}`
  return { ...problem, file: part.file, ...start, message }
}
