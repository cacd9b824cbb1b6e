import * as z from 'zod'
import { type Problem, type ProblemKind, toPointer } from '../base/problem.ts'
import { dropInvalid } from '../diagnostics/drop-invalid.ts'
import { describeShape } from '../diagnostics/shape-problems.ts'
import { describedParse } from '../diagnostics/zod-issues.ts'

/** How long a run may take, in every kind of config. */
export const TimeoutMs = z.int().min(1).max(3_600_000)

/** The label of the workers that may run a tool. */
export const WorkerLabel = z.string().min(1).max(64)

/** The JSON Schema of a tool's arguments, as data. */
export type InputSchema = { readonly [key: string]: unknown }

/** Says what is wrong with a config, given the schema of the tool's arguments and where the config stands. */
export type CheckConfig = (config: unknown, inputSchema: InputSchema, pointer: string) => readonly Problem[]

/** One thing found in a config, by its path in it. */
export interface ConfigFinding {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
  readonly severity?: Problem['severity']
}

/** Fields by which others are judged: where one is wrong, nothing can be said of those. */
const controllingKeys: Readonly<Record<string, readonly string[]>> = { method: ['body'] }

/** A check of a config: its shape, and what makes no sense in those of its fields whose shape is right. */
export function defineConfigCheck<T>(
  schema: z.ZodType<T>,
  check: (config: T, inputSchema: InputSchema) => readonly ConfigFinding[],
): CheckConfig {
  return (config, inputSchema, pointer) => {
    const parsed = schema.safeParse(config, describedParse)
    const found = parsed.success
      ? check(parsed.data, inputSchema)
      : findAll(schema, { config, issues: parsed.error.issues }, (rest) => check(rest, inputSchema))
    return found.map(({ path, severity = 'error', ...said }) => ({
      severity,
      pointer: pointer + toPointer(path),
      ...said,
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
  const wrong = new Set(
    shape.flatMap(({ path: [field] }) => [
      field,
      ...(Object.hasOwn(controllingKeys, String(field)) ? (controllingKeys[String(field)] ?? []) : []),
    ]),
  )
  // What is only odd may be so because something is missing.
  const others = (rest === undefined ? [] : check(rest)).filter(({ severity }) => severity !== 'warning')
  return [...shape, ...others.filter(({ path: [field] }) => !wrong.has(field))]
}
