import type * as z from 'zod'
import { type ErrorCode, TooldexError } from './errors.ts'
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
}

/** Reads a YAML text as typed data; every problem of the file is reported at once, each with its line and column. */
export function parseTypedYaml<T>(text: string, file: string, kind: YamlKind<T>, strict = false): TypedYaml<T> {
  const document = parseYaml(text, file)
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
  const findings = parsed.success
    ? kind.check(parsed.data)
    : parsed.error.issues.map((issue) => toFinding(issue, kind.keys))
  for (const finding of findings) {
    problems.push(place(file, document, { ...finding, path: toYamlPath(finding.path, kind.keys) }))
  }
  if (!parsed.success || problems.some((problem) => problem.severity === 'error'))
    throw invalid(file, kind.code, problems)
  return { value: parsed.data, warnings: problems }
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
  const sorted = [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
  return new TooldexError(code, `${file} has ${errors} error${errors === 1 ? '' : 's'}.`, { problems: sorted })
}
