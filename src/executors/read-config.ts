import * as z from 'zod'
import { type Problem, toPointer } from '../base/problem.ts'
import { didYouMean } from '../base/suggest.ts'
import { describeIssue } from '../base/zod-issues.ts'

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
  readonly severity?: Problem['severity']
}

/** A check of a config: first its shape, then what makes no sense although the shape is right. */
export function defineConfigCheck<T>(
  schema: z.ZodType<T>,
  check: (config: T, inputSchema: InputSchema) => readonly ConfigFinding[],
): CheckConfig {
  return (config, inputSchema, pointer) => {
    const parsed = schema.safeParse(config, { reportInput: true })
    const found = parsed.success
      ? check(parsed.data, inputSchema)
      : parsed.error.issues.flatMap((issue) => say(issue, schema))
    return found.map(({ path, message, hint, severity = 'error' }) => ({
      severity,
      pointer: pointer + toPointer(path),
      message,
      ...(hint === undefined ? {} : { hint }),
    }))
  }
}

function say(issue: z.core.$ZodIssue, schema: z.ZodType): readonly ConfigFinding[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, ...describeIssue(issue) }]
  const known = keysAt(schema, issue.path)
  const hint = known.length === 0 ? {} : { hint: `it takes: ${known.join(', ')}` }
  return issue.keys.map((key) => {
    return { path: [...issue.path, key], message: `unknown key '${key}'.${didYouMean(key, known)}`, ...hint }
  })
}

/** The keys that a schema knows at a path; none where it is not that simple. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let here = unwrap(schema)
  for (const part of path) {
    if (here instanceof z.ZodObject) here = unwrap((here.shape as Record<PropertyKey, unknown>)[part])
    else if (here instanceof z.ZodArray) here = unwrap(here.element)
    else return []
  }
  return here instanceof z.ZodObject ? Object.keys(here.shape) : []
}

function unwrap(schema: unknown): unknown {
  const wrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
  return wrapped ? unwrap(schema.unwrap()) : schema
}
