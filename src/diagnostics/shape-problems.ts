import * as z from 'zod'
import { didYouMean } from '../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import type { Finding } from './finding.ts'
import { describeIssue, yamlTypes } from './zod-issues.ts'

/** The hints for values that a schema rejects. */
export const hints = z.registry<{ readonly hint: string }>()

/** The wording of problems of a shape. */
export interface ShapeOptions {
  /** The written path of a field, which may differ from its names in code. */
  readonly written?: (path: readonly PropertyKey[]) => readonly PropertyKey[]
  /** Whether the value comes from a YAML file, so that types have their YAML names. */
  readonly isYaml?: boolean
  /** Top-level keys of the schema that are not part of the written value. */
  readonly internalKeys?: ReadonlySet<string> | undefined
}

/** A zod issue as findings: one for each unknown key, at the key. */
export function describeShape(
  schema: z.ZodType,
  issue: z.core.$ZodIssue,
  { written = (path) => path, internalKeys, isYaml = false }: ShapeOptions = {},
): readonly Finding[] {
  if (issue.code !== 'unrecognized_keys') {
    const { hint = hintAt(schema, issue.path), ...description } = describeIssue(
      { ...issue, path: [...written(issue.path)] },
      isYaml ? yamlTypes : undefined,
    )
    return [{ path: issue.path, ...description, ...(hint === undefined ? {} : { hint }) }]
  }
  const all = keysAt(schema, issue.path)
  const known = issue.path.length > 0 ? all : all.filter((key) => !internalKeys?.has(key))
  const hint = known.length === 0 ? {} : { hint: `allowed keys: ${known.join(', ')}` }
  const budget = new WorkBudget(suggestionSteps)
  return issue.keys.map((key) => {
    return { path: [...issue.path, key], message: `unknown key '${key}'.${didYouMean(key, known, budget)}`, ...hint }
  })
}

/** The keys of the object schema at a path; none for any other kind of schema. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const innermost = schemasAt(schema, path).at(-1)
  return innermost instanceof z.ZodObject ? Object.keys(innermost.shape) : []
}

function hintAt(schema: z.ZodType, path: readonly PropertyKey[]): string | undefined {
  for (const each of schemasAt(schema, path)) {
    const entry = each instanceof z.ZodType ? hints.get(each) : undefined
    if (entry !== undefined) return entry.hint
  }
  return undefined
}

/** The schema at a path with its wrapped schemas, the innermost last. */
function schemasAt(schema: unknown, path: readonly PropertyKey[]): readonly unknown[] {
  let current = unwrap(schema)
  for (const part of path) {
    const outer = current.at(-1)
    if (outer instanceof z.ZodObject) current = unwrap((outer.shape as Record<PropertyKey, unknown>)[part])
    else if (outer instanceof z.ZodArray) current = unwrap(outer.element)
    else return []
  }
  return current
}

function unwrap(schema: unknown): readonly unknown[] {
  const wrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
  return wrapped ? [schema, ...unwrap(schema.unwrap())] : [schema]
}
