import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { fromPointer, type Problem } from '../../base/problem.ts'
import { bundleLimits, splitHint } from '../../contract/bundle.ts'
import { registryLimits } from '../../contract/registry.ts'
import { parseJsonOrYaml } from '../../documents/json-document.ts'
import { placeInBlock } from '../../documents/locate-in-block.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import type { YamlDocument } from '../../documents/yaml-document.ts'
import { bothSpellings, type KeyShape, respellKeys } from '../../documents/yaml-keys.ts'
import { respell, toolKeys } from '../../sources/bundle/index.ts'
import { inFiles } from './validate-files.ts'

/** The fields in a file, and where each of them stands. */
export interface ToolFile {
  readonly fields: Readonly<Record<string, unknown>>
  /** Why the script could not be read; its field is missing then. */
  readonly scriptProblem?: Problem | undefined
  /** The same error with the lines of the file in the place of pointers. */
  explain(thrown: unknown): unknown
  /** The same problem with its place in the file. */
  place(problem: Problem): Problem
}

/** The text of a file, or of standard input where it is called `-`. */
export function readText(file: string): string {
  return file === '-'
    ? readFileSync(0, 'utf8')
    : readTextFile(file, bundleLimits.bytes, `Too much for one file: ${splitHint}`)
}

/** Reads the fields of a tool from YAML or JSON; its script may be in a file of its own. */
export function readToolFile(file: string, script?: string): ToolFile {
  const name = file === '-' ? 'stdin' : file
  const text = readText(file)
  const document = parseJsonOrYaml(text, name)
  if (document.problems.length > 0)
    throw new TooldexError('USAGE', `${name} cannot be read.`, { problems: document.problems, hint: mendHint })
  const { value } = document
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TooldexError('USAGE', `${name} does not hold the fields of a tool.`, { hint: mendHint })
  const { scriptFile, ...rest } = respellKeys(value, fileKeys) as Record<string, unknown>
  const { scriptContent, from, problem: scriptProblem } = readScript(file, script, scriptFile)
  const fields = scriptContent === undefined ? rest : { ...rest, scriptContent }
  const source = { file: name, text, document, fields, script: from }
  return {
    fields,
    scriptProblem,
    explain: (thrown) => placed(thrown, source),
    place: (problem) => place(problem, source),
  }
}

/** The keys of bundles, and those that only stand for a field: in camelCase or in snake_case. */
const fileKeys: KeyShape = { ...toolKeys, keys: { ...toolKeys.keys, ...bothSpellings('categoryId scriptFile') } }

const mendHint = 'Write one mapping of fields, such as name, displayName, description and inputSchema.'

interface ScriptText {
  readonly scriptContent?: string
  readonly from?: string | undefined
  readonly problem?: Problem
}

/** The script in a file of its own; one that cannot be read is reported beside the other problems of the tool. */
function readScript(file: string, script: string | undefined, scriptFile: unknown): ScriptText {
  if (script === undefined && scriptFile === undefined) return {}
  const wrong = (message: string, hint: string) => ({
    problem: { severity: 'error' as const, pointer: '/scriptFile', message, hint },
  })
  if (script === undefined && typeof scriptFile !== 'string')
    return wrong('scriptFile must be a path', 'write ./name.py')
  const from = script ?? resolve(file === '-' ? '.' : dirname(file), String(scriptFile))
  try {
    return { scriptContent: readTextFile(from, 4 * registryLimits.script), from }
  } catch (thrown) {
    const { message, hint } = toTooldexError(thrown)
    // The option of the command line is not a part of the file.
    if (script !== undefined) throw thrown
    return wrong(`scriptFile: ${message}`, hint)
  }
}

/** What a file was when it was read. */
interface Source {
  readonly file: string
  readonly text: string
  readonly document: YamlDocument
  readonly fields: Readonly<Record<string, unknown>>
  /** The file that the script is in, where it has one of its own. */
  readonly script: string | undefined
}

/** What is wrong with the input is told by where it stands in the file. */
function placed(thrown: unknown, source: Source): unknown {
  if (!(thrown instanceof TooldexError) || thrown.problems.length === 0) return thrown
  const problems = thrown.problems.map((problem) => place(problem, source))
  return inFiles(thrown, problems)
}

function place(problem: Problem, source: Source): Problem {
  const { file, document } = source
  if (problem.pointer === undefined) return problem
  const names = fromPointer(problem.pointer)
  // A proposal holds the file's fields one level further in.
  const own = names[0] === 'change' && names.length > 1 ? names.slice(1) : names
  const at = respell(document.value, own)
  // What has lines of its own is about the script.
  if (problem.line !== undefined) return placeScript(problem, problem.line, { ...source, at })
  return { ...problem, file, ...document.locate(at, 'key') }
}

function placeScript(problem: Problem, line: number, source: Source & { at: readonly PropertyKey[] }): Problem {
  const { file, text, document, fields, script, at } = source
  if (script !== undefined) return { ...problem, file: script }
  const { column = 1 } = problem
  const start = document.locate(at, 'value')
  const found = placeInBlock(text, start.line, String(fields.scriptContent ?? ''), { line, column })
  if (found !== undefined) return { ...problem, file, ...found }
  return { ...problem, file, ...start, message: `line ${line}, column ${column} of the script: ${problem.message}` }
}
