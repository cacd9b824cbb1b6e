import type { Problem } from '../base/problem.ts'

interface Location {
  readonly line: number
  readonly column: number
}

/** A field of a file that may contain a script. */
interface Field {
  readonly file: string
  readonly text: string
  /** The location of the field. */
  readonly start: Location
  /** The separate file of the script, if any. */
  readonly script: string | undefined
  readonly content: string | null | undefined
}

/** Adds the location of a field to its problem; a problem with a line of its own is in the script of the field. */
export function locateInScript(problem: Problem, { file, text, start, script, content }: Field): Problem {
  const { line, column = 1 } = problem
  if (line === undefined) return { ...problem, file, ...start }
  if (script !== undefined) return { ...problem, file: script }
  const found = locateInBlock(text, start.line, content ?? '', { line, column })
  if (found !== undefined) return { ...problem, file, ...found }
  return { ...problem, file, ...start, message: `line ${line}, column ${column} of the script: ${problem.message}` }
}

/**
 * Converts a location in a block scalar to a location in its file, where `mark` is the line of the block indicator;
 * undefined if the lines of the file differ from those of the text.
 */
function locateInBlock(file: string, mark: number, text: string, { line, column }: Location): Location | undefined {
  const textLine = lineOf(text, line)
  const fileLine = lineOf(file, mark + line)
  if (textLine === undefined || fileLine === undefined || !fileLine.endsWith(textLine)) return undefined
  const indent = fileLine.length - textLine.length
  return fileLine.slice(0, indent).trim() === '' ? { line: mark + line, column: indent + column } : undefined
}

const lineOf = (text: string, line: number): string | undefined => text.split('\n')[line - 1]?.replace(/\r$/, '')
