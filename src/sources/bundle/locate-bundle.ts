import { fromPointer, type Problem, toPointer } from '../../base/problem.ts'
import type { Bundle, BundleTool } from '../../contract/bundle.ts'
import { locateInScript } from '../../documents/locate-in-script.ts'
import type { BundlePart } from './read-part.ts'

/** The content of files with all of its problems, valid or not. */
export interface ReadBundle {
  /** The valid part. */
  readonly bundle: Bundle
  /** Errors and warnings, with their locations. */
  readonly problems: readonly Problem[]
  /** JSON pointers to the invalid parts of tools, which are not checked further. */
  readonly wrong: readonly string[]
  /** Replaces the JSON pointer of a problem in a tool by its location in the files. */
  place(problem: Problem): Problem
}

/** A script file that a tool references. */
export interface ScriptFile {
  readonly from: string
  readonly path: string
  readonly text: string
}

/** Joins files into one bundle with the locations of its tools. */
export function locateBundle(
  parts: readonly BundlePart[],
  problems: readonly Problem[],
  scripts: readonly ScriptFile[] = [],
): ReadBundle {
  const bundle = joinParts(parts)
  const origins = new Map(parts.flatMap((part) => part.bundle.tools.map((tool, index) => [tool, { part, index }])))
  const place = (problem: Problem): Problem => {
    const [kind, index, ...path] = fromPointer(problem.pointer ?? '')
    const tool = kind === 'tools' ? bundle.tools[Number(index)] : undefined
    const origin = tool === undefined ? undefined : origins.get(tool)
    if (tool === undefined || origin === undefined) return problem
    const { file, text, locate } = origin.part
    const script = scripts.find((each) => each.from === file && each.text === tool.scriptContent)
    // Files and bundle differ in order, so a pointer would be misleading.
    const { pointer: _pointer, ...rest } = problem
    const start = locate(['tools', origin.index, ...path])
    return locateInScript(rest, { file, text, start, script: script?.path, content: tool.scriptContent })
  }
  return { bundle, problems, wrong: findWrong(parts, bundle), place }
}

/** Pointers into the joined bundle for the invalid parts of the files; problems outside tools have none. */
function findWrong(parts: readonly BundlePart[], bundle: Bundle): readonly string[] {
  const indexes = new Map<BundleTool | undefined, number>(bundle.tools.map((tool, index) => [tool, index]))
  return parts.flatMap(({ wrong, bundle: own }) =>
    wrong.flatMap(([kind, index, ...path]) => {
      const joined = kind === 'tools' ? indexes.get(own.tools[Number(index)]) : undefined
      return joined === undefined ? [] : [toPointer(['tools', joined, ...path])]
    }),
  )
}

/** Joins the content of files into one bundle, sorted by name. */
function joinParts(parts: readonly BundlePart[]): Bundle {
  const declared = parts.flatMap(({ bundle }) => bundle.categories)
  const names = new Set(declared.map(({ name }) => name))
  const used = parts.filter((part) => part.impliesCategories).flatMap(({ bundle }) => bundle.tools)
  const implied = new Set(used.flatMap(({ category }) => category ?? []).filter((name) => !names.has(name)))
  return sortBundle({
    tooldex: 1,
    categories: [...declared, ...Array.from(implied, (name) => ({ name, description: null, parent: null }))],
    tools: parts.flatMap(({ bundle }) => bundle.tools),
    policies: parts.flatMap(({ bundle }) => bundle.policies),
    toolsets: parts.flatMap(({ bundle }) => bundle.toolsets),
    limits: parts.flatMap(({ bundle }) => bundle.limits),
    sources: parts.flatMap(({ bundle }) => bundle.sources),
  })
}

/** Sorts a bundle by name, independent of the locale. */
export function sortBundle({ tooldex, categories, tools, policies, toolsets, limits, sources }: Bundle): Bundle {
  return {
    tooldex,
    categories: categories.toSorted(byName),
    tools: tools.toSorted(byName),
    policies: policies.toSorted(byName),
    toolsets: toolsets.toSorted(byName),
    limits: limits.toSorted(byName),
    sources: sources.toSorted(byName),
  }
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) =>
  a.name < b.name ? -1 : Number(a.name > b.name)
