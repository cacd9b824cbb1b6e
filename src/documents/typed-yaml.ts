import type * as z from 'zod'
import { type ErrorCode, TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { dropInvalid } from '../diagnostics/drop-invalid.ts'
import type { Finding } from '../diagnostics/finding.ts'
import { describeShape } from '../diagnostics/shape-problems.ts'
import { describedParse } from '../diagnostics/zod-issues.ts'
import { parseYaml, type YamlDocument, type YamlOptions } from './yaml-document.ts'
import { type KeyShape, renameKeys, toYamlPath } from './yaml-keys.ts'

/** Data after lenient conversions, with a finding for each of them. */
export interface RelaxedValue {
  readonly value: unknown
  readonly findings: readonly Finding[]
}

/** The schema and the checks of one kind of YAML file. */
export interface YamlKind<T> {
  readonly schema: z.ZodType<T>
  readonly keys: KeyShape
  readonly code: ErrorCode
  /** The required content, for the message about a file without it. */
  readonly needs: string
  readonly check: (value: T) => readonly Finding[]
  readonly yaml?: YamlOptions
  /** Converts values that the schema would reject although their meaning is clear; keys have their names in code. */
  readonly relax?: (value: unknown, sourceAt: (path: readonly PropertyKey[]) => string | undefined) => RelaxedValue
  /** Keys whose siblings cannot be checked if the value is invalid. */
  readonly controllingKeys?: ReadonlySet<string>
  /** The path to show in messages, if the file is only a part of the data. */
  readonly shown?: (path: readonly PropertyKey[]) => readonly PropertyKey[]
}

/** Parses a YAML text as typed data; reports all problems of the file at once, each with line and column. */
export function parseTypedYaml<T>(text: string, file: string, kind: YamlKind<T>, strict = false): TypedYaml<T> {
  return typeDocument(parseYaml(text, file, kind.yaml), file, kind, strict)
}

/** Validates a parsed document as typed data, in the same way. */
export function typeDocument<T>(document: YamlDocument, file: string, kind: YamlKind<T>, strict = false): TypedYaml<T> {
  const { value, problems } = validateDocument(document, file, kind, strict)
  if (value === undefined || hasErrors(problems)) throw invalid(file, kind.code, problems)
  return { value, warnings: problems }
}

/** Typed data with all problems of its document. */
export interface ValidatedYaml<T> {
  /** The data without its invalid parts; undefined if nothing usable is left. */
  readonly value: T | undefined
  readonly problems: readonly Problem[]
  /** The paths of the invalid values, with names in code. */
  readonly wrong: readonly (readonly PropertyKey[])[]
}

/** Validates a parsed document without throwing, for callers that add further problems. */
export function validateDocument<T>(
  document: YamlDocument,
  file: string,
  kind: YamlKind<T>,
  strict = false,
): ValidatedYaml<T> {
  if (document.problems.length > 0) return { value: undefined, problems: byLocation(document.problems), wrong: [] }
  if (typeof document.value !== 'object' || document.value === null || Array.isArray(document.value)) {
    const state = document.value == null ? 'is empty' : 'is not a mapping of keys to values'
    const problem = locate(file, document, { path: [], message: `the file ${state}; it needs ${kind.needs}` })
    return { value: undefined, problems: [problem], wrong: [] }
  }
  const { value: renamed, unknown } = renameKeys(document.value, kind.keys)
  const severity = strict ? 'error' : 'warning'
  const problems = (document.tolerated ?? []).map((problem): Problem => ({ ...problem, severity }))
  // A warning about an unknown key does not list the known ones.
  for (const { hint, ...key } of unknown)
    problems.push(
      locate(file, document, { ...key, severity, ...(strict && hint !== undefined ? { hint } : {}) }, 'key'),
    )
  const sourceAt = (path: readonly PropertyKey[]) => document.sourceAt?.(toYamlPath(path, kind.keys))
  const { value, findings: relaxed } = kind.relax?.(renamed, sourceAt) ?? { value: renamed, findings: [] }
  const parsed = kind.schema.safeParse(value, describedParse)
  const issues = parsed.success ? [] : parsed.error.issues
  const typed = parsed.success ? parsed.data : dropInvalid(kind.schema, value, issues)
  const rejected = [...issues.flatMap((issue) => toFindings(issue, kind)), ...checkRest(kind, typed, issues)]
  const findings = [...relaxed, ...rejected].map((finding) => ({ ...finding, severity: severityOf(finding, strict) }))
  for (const finding of findings) {
    problems.push(locate(file, document, { ...finding, path: toYamlPath(finding.path, kind.keys) }))
  }
  const wrong = findings.filter((found) => found.severity === 'error').map(({ path }) => path)
  return { value: typed, problems: byLocation(problems), wrong }
}

const severityOf = ({ severity = 'error', tolerated }: Finding, strict: boolean): Problem['severity'] =>
  tolerated && !strict ? 'warning' : severity

/** Whether any of the problems is an error. */
export const hasErrors = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity === 'error')

/** Findings of the checks on the parts that the schema accepts. */
function checkRest<T>(kind: YamlKind<T>, value: T | undefined, issues: readonly z.core.$ZodIssue[]) {
  const found = value === undefined ? [] : kind.check(value)
  return found.filter(({ path }) => !issues.some((issue) => preventsCheck(issue.path, path, kind.controllingKeys)))
}

/** Whether an invalid value prevents checks at a path: the path is at or below the value or, for a controlling key, its parent. */
function preventsCheck(
  wrong: readonly PropertyKey[],
  path: readonly PropertyKey[],
  controllingKeys: ReadonlySet<string> | undefined,
) {
  const decides = controllingKeys?.has(String(wrong.at(-1))) === true
  const reach = decides ? wrong.slice(0, -1) : wrong
  return reach.every((part, index) => path[index] === part)
}

/** Typed data with the warnings about its file. */
export interface TypedYaml<T> {
  readonly value: T
  readonly warnings: readonly Problem[]
}

function toFindings<T>(issue: z.core.$ZodIssue, { schema, keys, shown }: YamlKind<T>): readonly Finding[] {
  const written = toYamlPath(issue.path, keys)
  return describeShape(schema, issue, { written: shown?.(written) ?? written, isYaml: true })
}

function locate(file: string, document: YamlDocument, finding: Finding, at: 'key' | 'value' = 'value'): Problem {
  const { severity = 'error', message, hint, kind, path } = finding
  const details = { ...(hint === undefined ? {} : { hint }), ...(kind === undefined ? {} : { kind }) }
  return { severity, file, ...document.locate(path, at), message, ...details }
}

function invalid(file: string, code: ErrorCode, problems: readonly Problem[]): TooldexError {
  const errors = problems.filter((problem) => problem.severity === 'error').length
  const message = `${file} has ${errors} error${errors === 1 ? '' : 's'}.`
  return new TooldexError(code, message, { problems: byLocation(problems) })
}

const byLocation = (problems: readonly Problem[]): readonly Problem[] =>
  [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
