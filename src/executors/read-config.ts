import * as z from 'zod'
import { type Problem, type ProblemKind, toPointer } from '../base/problem.ts'
import { dropInvalid } from '../diagnostics/drop-invalid.ts'
import { describeShape } from '../diagnostics/shape-problems.ts'
import { describedParse } from '../diagnostics/zod-issues.ts'

/** The timeout of a run, in the config of every executor kind. */
export const TimeoutMs = z.int().min(1).max(3_600_000)

/** The label of the workers that may run a tool. */
export const WorkerLabel = z.string().min(1).max(64)

/** The JSON Schema of a tool's arguments, as data. */
export type InputSchema = { readonly [key: string]: unknown }

/** Validates a config against the schema of the tool's arguments; `pointer` is the location of the config. */
export type CheckConfig = (config: unknown, inputSchema: InputSchema, pointer: string) => readonly Problem[]

/** A problem of a config, with its path inside the config. */
export interface ConfigFinding {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
  readonly severity?: Problem['severity']
}

/** Fields that others depend on: if one is invalid, its dependents are not checked. */
const controllingKeys: Readonly<Record<string, readonly string[]>> = { method: ['body'] }

/** A config check: the shape by the schema, then the content of the fields whose shape is valid. */
export function defineConfigCheck<T>(
  schema: z.ZodType<T>,
  check: (config: T, inputSchema: InputSchema) => readonly ConfigFinding[],
): CheckConfig {
  return (config, inputSchema, pointer) => {
    const parsed = schema.safeParse(config, describedParse)
    const found = parsed.success
      ? check(parsed.data, inputSchema)
      : findAll(schema, { config, issues: parsed.error.issues }, (valid) => check(valid, inputSchema))
    return found.map(({ path, severity = 'error', ...rest }) => ({
      severity,
      pointer: pointer + toPointer(path),
      ...rest,
    }))
  }
}

function findAll<T>(
  schema: z.ZodType<T>,
  { config, issues }: { readonly config: unknown; readonly issues: readonly z.core.$ZodIssue[] },
  check: (rest: T) => readonly ConfigFinding[],
): readonly ConfigFinding[] {
  const shape = issues.flatMap((issue) => describeShape(schema, issue))
  const rest = dropInvalid(schema, config, issues)
  const invalid = new Set(
    shape.flatMap(({ path: [field] }) => [
      field,
      ...(Object.hasOwn(controllingKeys, String(field)) ? (controllingKeys[String(field)] ?? []) : []),
    ]),
  )
  // Warnings may be consequences of the missing fields.
  const others = (rest === undefined ? [] : check(rest)).filter(({ severity }) => severity !== 'warning')
  return [...shape, ...others.filter(({ path: [field] }) => !invalid.has(field))]
}
