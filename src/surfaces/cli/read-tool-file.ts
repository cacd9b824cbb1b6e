import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { fromPointer, type Problem } from '../../base/problem.ts'
import { type Bundle, bundleLimits, splitHint } from '../../contract/bundle.ts'
import { registryLimits } from '../../contract/registry.ts'
import { independentOfInvalid } from '../../diagnostics/diagnose.ts'
import { byLocation } from '../../diagnostics/finding.ts'
import { maxProblems, toProblemError } from '../../diagnostics/problem-error.ts'
import { parseJsonOrYaml } from '../../documents/json-document.ts'
import { locateInScript } from '../../documents/locate-in-script.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import type { YamlDocument } from '../../documents/yaml-document.ts'
import { bothYamlSpellings, type KeyShape, respellYamlKeys } from '../../documents/yaml-keys.ts'
import { importBundle } from '../../operations/registry/bundles.ts'
import { toolDependents } from '../../rules/tool-dependents.ts'
import { checkSentBundle, type ReadBundle, respellBundlePath, toolKeys } from '../../sources/bundle/index.ts'
import type { RegistryClient } from './host.ts'

/** The fields of a tool in a file, with the location of each. */
export interface ToolFile {
  readonly fields: Readonly<Record<string, unknown>>
  /** The reason why the script could not be read; `scriptContent` is missing then. */
  readonly scriptProblem?: Problem | undefined
  /** Replaces the pointers of an error by lines of the file. */
  explain(thrown: unknown): unknown
  /** Adds the location in the file to a problem. */
  place(problem: Problem): Problem
}

/** Reads a file, or standard input if its name is `-`. */
export function readText(file: string): string {
  return file === '-'
    ? readFileSync(0, 'utf8')
    : readTextFile(file, bundleLimits.documentBytes, `Too much for one file: ${splitHint}`)
}

/** Reads the fields of a tool from YAML or JSON; its script may be in a file of its path. */
export function readToolFile(file: string, script?: string): ToolFile {
  const name = file === '-' ? 'stdin' : file
  const text = readText(file)
  const document = parseJsonOrYaml(text, name)
  if (document.problems.length > 0)
    throw new TooldexError('USAGE', `${name} cannot be read.`, { problems: document.problems, hint: fieldsHint })
  const { value } = document
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TooldexError('USAGE', `${name} does not contain the fields of a tool.`, { hint: fieldsHint })
  const { scriptFile, ...rest } = respellYamlKeys(value, fileKeys) as Record<string, unknown>
  const { scriptContent, from, problem: scriptProblem } = readScript(file, script, scriptFile)
  const fields = scriptContent === undefined ? rest : { ...rest, scriptContent }
  const source = { file: name, text, document, fields, script: from }
  return {
    fields,
    scriptProblem,
    explain: (thrown) => withLocations(thrown, source),
    place: (problem) => place(problem, source),
  }
}

/** The keys of bundles and the aliases of fields, in camelCase or snake_case. */
const fileKeys: KeyShape = { ...toolKeys, keys: { ...toolKeys.keys, ...bothYamlSpellings('categoryId scriptFile') } }

const fieldsHint = 'Write one mapping of fields, such as name, displayName, description and inputSchema.'

interface ScriptText {
  readonly scriptContent?: string
  readonly from?: string | undefined
  readonly problem?: Problem
}

/** The script in a file of its path; one that cannot be read is reported beside the other problems of the tool. */
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

/** The content of a file at the time of reading. */
interface Source {
  readonly file: string
  readonly text: string
  readonly document: YamlDocument
  readonly fields: Readonly<Record<string, unknown>>
  /** The separate file of the script, if any. */
  readonly script: string | undefined
}

/** Adds locations in the file to the problems of an error. */
function withLocations(thrown: unknown, source: Source): unknown {
  if (!(thrown instanceof TooldexError) || thrown.problems.length === 0) return thrown
  const problems = thrown.problems.map((problem) => place(problem, source))
  return inFiles(thrown, problems)
}

function place(problem: Problem, source: Source): Problem {
  const { file, text, document, fields, script } = source
  if (problem.pointer === undefined) return problem
  const names = fromPointer(problem.pointer)
  // In a proposal the fields of the file are one level deeper.
  const path = names[0] === 'change' && names.length > 1 ? names.slice(1) : names
  const at = respellBundlePath(document.value, path)
  const start = document.locate(at, problem.line === undefined ? 'key' : 'value')
  const content = String(fields.scriptContent ?? '')
  return locateInScript(problem, { file, text, start, script, content })
}

type Locate = (problem: Problem) => Problem
type WithRegistry = <Result>(work: (registry: RegistryClient) => Promise<Result>) => Promise<Result>

/** Replaces the pointers of a rejected bundle by locations in its files. */
export function locateInToolFiles(thrown: unknown, locate: Locate): unknown {
  if (!(thrown instanceof TooldexError)) return thrown
  const problems = thrown.problems.map((problem) => (isInBundle(problem) ? locate(outOfInput(problem)) : problem))
  return inFiles(thrown, problems)
}

/** The same error with problems located in files, and a hint to fix those files. */
export function inFiles({ code, message, hint, personHint }: TooldexError, problems: readonly Problem[]): TooldexError {
  const files = new Set(problems.flatMap(({ file }) => file ?? []))
  const isOfFiles = files.size > 0 && (code === 'INPUT_INVALID' || code === 'TOOL_INVALID')
  const fix = `Fix the file${files.size === 1 ? '' : 's'}, then run the same command again.`
  return new TooldexError(code, message, { problems, hint, personHint: isOfFiles ? fix : personHint })
}

/** The error for malformed files, with the problems that the registry finds in their valid part. */
export async function rejectFiles(
  folder: string,
  { bundle, problems: found, wrong, place }: ReadBundle,
  withRegistry: WithRegistry,
): Promise<TooldexError> {
  const reported = bundle.tools.length === 0 ? [] : await validateBundle(bundle, withRegistry)
  // Problems between files were already found during reading, with their locations.
  const alreadyFound = new Set(checkSentBundle(bundle).map(toKey))
  const isIndependent = independentOfInvalid(wrong, toolDependents)
  const others = reported.filter((problem) => !alreadyFound.has(toKey(problem)) && isIndependent(problem.pointer))
  const problems = [...found, ...others.map(place)].sort(byFile)
  return toProblemError({ code: 'BUNDLE_INVALID', what: folder, problems, more: reported.length >= maxProblems })
}

const toKey = ({ pointer, message }: Problem): string => `${pointer}\n${message}`

/** Returns the problems that a registry reports for a bundle; none if the registry is unavailable. */
async function validateBundle(bundle: Bundle, withRegistry: WithRegistry): Promise<readonly Problem[]> {
  try {
    await withRegistry((registry) => registry.invoke(importBundle, { bundle, dryRun: true }))
    return []
  } catch (thrown) {
    if (!(thrown instanceof TooldexError)) throw thrown
    return thrown.problems.filter(isInBundle).map(outOfInput)
  }
}

const isInBundle = ({ pointer }: Problem) => pointer?.startsWith('/bundle/tools/') === true
const outOfInput = (problem: Problem): Problem => ({
  ...problem,
  pointer: problem.pointer?.slice('/bundle'.length) ?? '',
})

/** Errors first, in the order of files and lines. */
const byFile = (a: Problem, b: Problem): number =>
  Number(a.severity === 'warning') - Number(b.severity === 'warning') ||
  compareText(a.file ?? '', b.file ?? '') ||
  byLocation(a, b)

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
