import type * as z from 'zod'
import { type ErrorCode, TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { dropInvalid } from '../diagnostics/drop-invalid.ts'
import type { Finding } from '../diagnostics/finding.ts'
import { describeShape } from '../diagnostics/shape-problems.ts'
import { describedParse } from '../diagnostics/zod-issues.ts'
import { parseYaml, type YamlDocument, type YamlOptions } from './yaml-document.ts'
import { type KeyShape, renameKeys, toYamlPath } from './yaml-keys.ts'

/** Data as a lenient reader takes it, and where that differs from what is written. */
export interface RelaxedValue {
  readonly value: unknown
  readonly findings: readonly Finding[]
}

/** How a kind of YAML file is read. */
export interface YamlKind<T> {
  readonly schema: z.ZodType<T>
  readonly keys: KeyShape
  readonly code: ErrorCode
  /** What the file needs, for the message when it holds nothing usable. */
  readonly needs: string
  readonly check: (value: T) => readonly Finding[]
  /** How the text is parsed. */
  readonly yaml?: YamlOptions
  /** Converts values that the schema would refuse although their meaning is clear; keys have their names in code. */
  readonly relax?: (value: unknown, sourceAt: (path: readonly PropertyKey[]) => string | undefined) => RelaxedValue
  /** Keys that, when wrong, leave nothing to be said about their neighbours. */
  readonly controllingKeys?: ReadonlySet<string>
  /** What a place is called in words, where the file is only a part of the data. */
  readonly shown?: (path: readonly PropertyKey[]) => readonly PropertyKey[]
}

/** Reads a YAML text as typed data; every problem of the file is reported at once, each with its line and column. */
export function parseTypedYaml<T>(text: string, file: string, kind: YamlKind<T>, strict = false): TypedYaml<T> {
  return typeDocument(parseYaml(text, file, kind.yaml), file, kind, strict)
}

/** Reads what was parsed already as typed data, in the same way. */
export function typeDocument<T>(document: YamlDocument, file: string, kind: YamlKind<T>, strict = false): TypedYaml<T> {
  const { value, problems } = validateDocument(document, file, kind, strict)
  if (value === undefined || hasErrors(problems)) throw invalid(file, kind.code, problems)
  return { value, warnings: problems }
}

/** What was parsed as typed data with everything that is wrong with it. */
export interface ValidatedYaml<T> {
  /** The data without what is wrong; undefined where that leaves nothing. */
  readonly value: T | undefined
  readonly problems: readonly Problem[]
  /** Where the data is wrong, as paths of names in code. */
  readonly wrong: readonly (readonly PropertyKey[])[]
}

/** Reads what was parsed already, and refuses nothing: whoever asks has more to say about it. */
export function validateDocument<T>(
  document: YamlDocument,
  file: string,
  kind: YamlKind<T>,
  strict = false,
): ValidatedYaml<T> {
  if (document.problems.length > 0) return { value: undefined, problems: byPlace(document.problems), wrong: [] }
  if (typeof document.value !== 'object' || document.value === null || Array.isArray(document.value)) {
    const found = document.value == null ? 'is empty' : 'is not a mapping of keys to values'
    const problem = place(file, document, { path: [], message: `the file ${found}; it needs ${kind.needs}` })
    return { value: undefined, problems: [problem], wrong: [] }
  }
  const { value: renamed, unknown } = renameKeys(document.value, kind.keys)
  const severity = strict ? 'error' : 'warning'
  const problems = (document.tolerated ?? []).map((problem): Problem => ({ ...problem, severity }))
  // A warning about an unknown key does not list the known ones.
  for (const { hint, ...key } of unknown)
    problems.push(place(file, document, { ...key, severity, ...(strict && hint !== undefined ? { hint } : {}) }, 'key'))
  const sourceAt = (path: readonly PropertyKey[]) => document.sourceAt?.(toYamlPath(path, kind.keys))
  const { value, findings: relaxed } = kind.relax?.(renamed, sourceAt) ?? { value: renamed, findings: [] }
  const parsed = kind.schema.safeParse(value, describedParse)
  const issues = parsed.success ? [] : parsed.error.issues
  const typed = parsed.success ? parsed.data : dropInvalid(kind.schema, value, issues)
  const refused = [...issues.flatMap((issue) => toFindings(issue, kind)), ...checkRest(kind, typed, issues)]
  const findings = [...relaxed, ...refused].map((finding) => ({ ...finding, severity: severityOf(finding, strict) }))
  for (const finding of findings) {
    problems.push(place(file, document, { ...finding, path: toYamlPath(finding.path, kind.keys) }))
  }
  const wrong = findings.filter((found) => found.severity === 'error').map(({ path }) => path)
  return { value: typed, problems: byPlace(problems), wrong }
}

const severityOf = ({ severity = 'error', tolerated }: Finding, strict: boolean): Problem['severity'] =>
  tolerated && !strict ? 'warning' : severity

/** Whether a list holds an error, not only warnings. */
export const hasErrors = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity === 'error')

/** What makes no sense in the data, as far as the schema refuses nothing there. */
function checkRest<T>(kind: YamlKind<T>, value: T | undefined, issues: readonly z.core.$ZodIssue[]) {
  const found = value === undefined ? [] : kind.check(value)
  return found.filter(({ path }) => !issues.some((issue) => spoils(issue.path, path, kind.controllingKeys)))
}

/** Whether nothing can be said at a path because of a wrong value: the same one, or one by which its neighbours are judged. */
function spoils(
  wrong: readonly PropertyKey[],
  path: readonly PropertyKey[],
  controllingKeys: ReadonlySet<string> | undefined,
) {
  const decides = controllingKeys?.has(String(wrong.at(-1))) === true
  const reach = decides ? wrong.slice(0, -1) : wrong
  return reach.every((part, index) => path[index] === part)
}

/** Typed data with what is odd about the file it came from. */
export interface TypedYaml<T> {
  readonly value: T
  readonly warnings: readonly Problem[]
}

function toFindings<T>(issue: z.core.$ZodIssue, { schema, keys, shown }: YamlKind<T>): readonly Finding[] {
  const written = toYamlPath(issue.path, keys)
  return describeShape(schema, issue, { written: shown?.(written) ?? written })
}

function place(file: string, document: YamlDocument, finding: Finding, at: 'key' | 'value' = 'value'): Problem {
  const { severity = 'error', message, hint, kind, path } = finding
  const known = { ...(hint === undefined ? {} : { hint }), ...(kind === undefined ? {} : { kind }) }
  return { severity, file, ...document.locate(path, at), message, ...known }
}

function invalid(file: string, code: ErrorCode, problems: readonly Problem[]): TooldexError {
  const errors = problems.filter((problem) => problem.severity === 'error').length
  const message = `${file} has ${errors} error${errors === 1 ? '' : 's'}.`
  return new TooldexError(code, message, { problems: byPlace(problems) })
}

const byPlace = (problems: readonly Problem[]): readonly Problem[] =>
  [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
