import * as z from 'zod'
import { didYouMean } from '../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import type { Finding } from './finding.ts'
import { describeIssue } from './zod-issues.ts'

/** What to do about a value that a schema refuses, where the schema knows it. */
export const hints = z.registry<{ readonly hint: string }>()

interface ShapeOptions {
  readonly written?: readonly PropertyKey[]
  /** Keys at the top that the schema knows and that are not for whoever wrote the value. */
  readonly elsewhere?: ReadonlySet<string> | undefined
}

/**
 * What a schema refuses, in words: a key that nobody knows is wrong where it stands, and each by itself. A field is called what
 * whoever wrote it calls it, where that is not its name in code.
 */
export function describeShape(
  schema: z.ZodType,
  issue: z.core.$ZodIssue,
  { written = issue.path, elsewhere }: ShapeOptions = {},
): readonly Finding[] {
  if (issue.code !== 'unrecognized_keys') {
    const { hint = hintAt(schema, issue.path), ...said } = describeIssue({ ...issue, path: [...written] })
    return [{ path: issue.path, ...said, ...(hint === undefined ? {} : { hint }) }]
  }
  const all = keysAt(schema, issue.path)
  const known = issue.path.length > 0 ? all : all.filter((key) => !elsewhere?.has(key))
  const hint = known.length === 0 ? {} : { hint: `it takes: ${known.join(', ')}` }
  const budget = new WorkBudget(suggestionSteps)
  return issue.keys.map((key) => {
    return { path: [...issue.path, key], message: `unknown key '${key}'.${didYouMean(key, known, budget)}`, ...hint }
  })
}

/** The keys that a schema knows at a path; none where it is not that simple. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const here = schemasAt(schema, path).at(-1)
  return here instanceof z.ZodObject ? Object.keys(here.shape) : []
}

function hintAt(schema: z.ZodType, path: readonly PropertyKey[]): string | undefined {
  for (const each of schemasAt(schema, path)) {
    const known = each instanceof z.ZodType ? hints.get(each) : undefined
    if (known !== undefined) return known.hint
  }
  return undefined
}

/** The schema at a path with all that it wraps, the innermost last. */
function schemasAt(schema: unknown, path: readonly PropertyKey[]): readonly unknown[] {
  let here = unwrap(schema)
  for (const part of path) {
    const outer = here.at(-1)
    if (outer instanceof z.ZodObject) here = unwrap((outer.shape as Record<PropertyKey, unknown>)[part])
    else if (outer instanceof z.ZodArray) here = unwrap(outer.element)
    else return []
  }
  return here
}

function unwrap(schema: unknown): readonly unknown[] {
  const wrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
  return wrapped ? [schema, ...unwrap(schema.unwrap())] : [schema]
}
