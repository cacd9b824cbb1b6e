import type * as z from 'zod'
import { type ErrorCode, TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { type Dependents, diagnose } from '../diagnostics/diagnose.ts'
import { byLocation, type Finding, findingToProblem, hasErrors } from '../diagnostics/finding.ts'
import { parseYaml, type YamlDocument, type YamlOptions } from './yaml-document.ts'
import { type KeyShape, renameYamlKeys, toYamlPath } from './yaml-keys.ts'

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
  readonly dependents?: Dependents
  /** The path to show in messages, if the file is only a part of the data. */
  readonly shown?: (path: readonly PropertyKey[]) => readonly PropertyKey[]
}

/** Parses a YAML text as typed data; reports all problems of the file at once, each with line and column. */
export function parseTypedYaml<T>(text: string, file: string, kind: YamlKind<T>, strict = false): TypedYaml<T> {
  return typeYamlDocument(parseYaml(text, file, kind.yaml), file, kind, strict)
}

/** Validates a parsed document as typed data, in the same way. */
export function typeYamlDocument<T>(
  document: YamlDocument,
  file: string,
  kind: YamlKind<T>,
  strict = false,
): TypedYaml<T> {
  const { value, problems } = validateYamlDocument(document, file, kind, strict)
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
export function validateYamlDocument<T>(
  document: YamlDocument,
  file: string,
  kind: YamlKind<T>,
  strict = false,
): ValidatedYaml<T> {
  if (document.problems.length > 0)
    return { value: undefined, problems: document.problems.toSorted(byLocation), wrong: [] }
  if (typeof document.value !== 'object' || document.value === null || Array.isArray(document.value)) {
    const state = document.value == null ? 'is empty' : 'is not a mapping of keys to values'
    const problem = locate(file, document, { path: [], message: `the file ${state}; it needs ${kind.needs}` })
    return { value: undefined, problems: [problem], wrong: [] }
  }
  const { value: renamed, unknown } = renameYamlKeys(document.value, kind.keys)
  const severity = strict ? 'error' : 'warning'
  const problems = (document.tolerated ?? []).map((problem): Problem => ({ ...problem, severity }))
  // A warning about an unknown key does not list the known ones.
  for (const { hint, ...key } of unknown)
    problems.push(
      locate(file, document, { ...key, severity, ...(strict && hint !== undefined ? { hint } : {}) }, 'key'),
    )
  const written = (path: readonly PropertyKey[]) => toYamlPath(path, kind.keys)
  const sourceAt = (path: readonly PropertyKey[]) => document.sourceAt?.(written(path))
  const { shown = (path) => path } = kind
  const { value, findings: relaxed } = kind.relax?.(renamed, sourceAt) ?? { value: renamed, findings: [] }
  const { value: typed, findings: found } = diagnose(
    value,
    { schema: kind.schema, dependents: kind.dependents, isYaml: true, written: (path) => shown(written(path)) },
    kind.check,
  )
  const findings = [...relaxed, ...found].map((finding) => ({ ...finding, severity: severityOf(finding, strict) }))
  for (const finding of findings) problems.push(locate(file, document, { ...finding, path: written(finding.path) }))
  const wrong = findings.filter((each) => each.severity === 'error').map(({ path }) => path)
  return { value: typed, problems: problems.sort(byLocation), wrong }
}

const severityOf = ({ severity = 'error', tolerated }: Finding, strict: boolean): Problem['severity'] =>
  tolerated && !strict ? 'warning' : severity

/** Typed data with the warnings about its file. */
export interface TypedYaml<T> {
  readonly value: T
  readonly warnings: readonly Problem[]
}

function locate(file: string, document: YamlDocument, finding: Finding, at: 'key' | 'value' = 'value'): Problem {
  return { ...findingToProblem(finding), file, ...document.locate(finding.path, at) }
}

function invalid(file: string, code: ErrorCode, problems: readonly Problem[]): TooldexError {
  const errors = problems.filter((problem) => problem.severity === 'error').length
  return new TooldexError(code, `${file} has ${errors} error${errors === 1 ? '' : 's'}.`, { problems })
}
