import type * as z from 'zod'
import { type ErrorCode, TooldexError } from './errors.ts'
import { mendValue } from './mend-value.ts'
import type { Problem } from './problem.ts'
import { parseYaml, type YamlDocument } from './yaml-document.ts'
import { type KeyShape, renameKeys, toYamlPath } from './yaml-keys.ts'
import { describeIssue } from './zod-issues.ts'

/** Something about the data that a schema cannot say, at a path of names in code. */
export interface Finding {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly severity?: Problem['severity']
}

/** How a kind of YAML file is read. */
export interface YamlKind<T> {
  readonly schema: z.ZodType<T>
  readonly keys: KeyShape
  readonly code: ErrorCode
  /** What the file needs, for the message when it holds nothing usable. */
  readonly needs: string
  readonly check: (value: T) => readonly Finding[]
  /** Keys that, when wrong, leave nothing to be said about their neighbours. */
  readonly decisive?: ReadonlySet<string>
}

/** Reads a YAML text as typed data; every problem of the file is reported at once, each with its line and column. */
export function parseTypedYaml<T>(text: string, file: string, kind: YamlKind<T>, strict = false): TypedYaml<T> {
  return typeDocument(parseYaml(text, file), file, kind, strict)
}

/** Reads what was parsed already as typed data, in the same way. */
export function typeDocument<T>(document: YamlDocument, file: string, kind: YamlKind<T>, strict = false): TypedYaml<T> {
  if (document.problems.length > 0) throw invalid(file, kind.code, document.problems)
  if (typeof document.value !== 'object' || document.value === null || Array.isArray(document.value)) {
    const found = document.value == null ? 'is empty' : 'is not a mapping of keys to values'
    throw invalid(file, kind.code, [
      place(file, document, { path: [], message: `the file ${found}; it needs ${kind.needs}` }),
    ])
  }
  const { value, unknown } = renameKeys(document.value, kind.keys)
  const severity = strict ? 'error' : 'warning'
  const problems = unknown.map((key) => place(file, document, { ...key, severity }, 'key'))
  const parsed = kind.schema.safeParse(value, { reportInput: true })
  const findings = parsed.success ? kind.check(parsed.data) : findAll(kind, value, parsed.error.issues)
  for (const finding of findings) {
    problems.push(place(file, document, { ...finding, path: toYamlPath(finding.path, kind.keys) }))
  }
  if (!parsed.success || problems.some((problem) => problem.severity === 'error'))
    throw invalid(file, kind.code, problems)
  return { value: parsed.data, warnings: byPlace(problems) }
}

/** What the schema refuses, and what makes no sense in the rest of the data. */
function findAll<T>(kind: YamlKind<T>, value: unknown, issues: readonly z.core.$ZodIssue[]): readonly Finding[] {
  const mended = mendValue(kind.schema, value, issues)
  const others = mended === undefined ? [] : kind.check(mended)
  const isJudged = ({ path }: Finding) => !issues.some((issue) => spoils(issue.path, path, kind.decisive))
  return [...issues.map((issue) => toFinding(issue, kind.keys)), ...others.filter(isJudged)]
}

/** Whether nothing can be said at a path because of a wrong value: the same one, or one by which its neighbours are judged. */
function spoils(
  wrong: readonly PropertyKey[],
  path: readonly PropertyKey[],
  decisive: ReadonlySet<string> | undefined,
) {
  const decides = decisive?.has(String(wrong.at(-1))) === true
  const reach = decides ? wrong.slice(0, -1) : wrong
  return reach.every((part, index) => path[index] === part)
}

/** Typed data with what is odd about the file it came from. */
export interface TypedYaml<T> {
  readonly value: T
  readonly warnings: readonly Problem[]
}

function toFinding(issue: z.core.$ZodIssue, keys: KeyShape): Finding {
  return { path: issue.path, ...describeIssue({ ...issue, path: [...toYamlPath(issue.path, keys)] }) }
}

function place(file: string, document: YamlDocument, finding: Finding, at: 'key' | 'value' = 'value'): Problem {
  const { severity = 'error', message, hint, path } = finding
  return { severity, file, ...document.locate(path, at), message, ...(hint === undefined ? {} : { hint }) }
}

function invalid(file: string, code: ErrorCode, problems: readonly Problem[]): TooldexError {
  const errors = problems.filter((problem) => problem.severity === 'error').length
  const message = `${file} has ${errors} error${errors === 1 ? '' : 's'}.`
  return new TooldexError(code, message, { problems: byPlace(problems) })
}

const byPlace = (problems: readonly Problem[]): readonly Problem[] =>
  [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
