import * as z from 'zod'
import { fromPointer, type Problem, type ProblemKind, toWireProblem } from '../base/problem.ts'
import { didYouMean } from '../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import type { Finding } from './finding.ts'
import { describeZodIssue, yamlTypes } from './zod-issues.ts'

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

// Further ones are counted: each takes time in every later step.
const maxUnknownKeys = 1000

/** A zod issue as findings: one for each unknown key, at the key. */
export function describeShapeProblems(
  schema: z.ZodType,
  issue: z.core.$ZodIssue,
  { written = (path) => path, internalKeys, isYaml = false }: ShapeOptions = {},
): readonly Finding[] {
  if (issue.code !== 'unrecognized_keys') {
    const { hint = hintAt(schema, issue.path), ...description } = describeZodIssue(
      { ...issue, path: [...written(issue.path)] },
      isYaml ? yamlTypes : undefined,
    )
    return [{ path: issue.path, ...description, ...(hint === undefined ? {} : { hint }) }]
  }
  const all = keysAt(schema, issue.path)
  const known = issue.path.length > 0 ? all : all.filter((key) => !internalKeys?.has(key))
  const hint = known.length === 0 ? {} : { hint: `allowed keys: ${known.join(', ')}` }
  const budget = new WorkBudget(suggestionSteps)
  const findings: Finding[] = issue.keys.slice(0, maxUnknownKeys).map((key) => {
    return { path: [...issue.path, key], message: `unknown key '${key}'.${didYouMean(key, known, budget)}`, ...hint }
  })
  const more = issue.keys.length - findings.length
  return more === 0 ? findings : [...findings, { path: issue.path, message: `${more} more unknown keys`, ...hint }]
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

const hintsByKind: Readonly<Partial<Record<ProblemKind, string>>> = {
  'not-array': 'write an array, such as ["a", "b"]',
  'not-object': 'write an object, such as {"key": "value"}',
  'not-string': 'write a string in quotes',
  'not-number': 'write a number without quotes',
  'not-boolean': 'write true or false, without quotes',
  required: 'add it',
  'too-long': 'shorten it',
}

/** A problem with its hint, or a standard one for an error that has none. */
export function withDefaultHint(problem: Problem): Problem {
  if (problem.severity !== 'error' || problem.hint !== undefined) return toWireProblem(problem)
  return { ...toWireProblem(problem), hint: suggestionFor(problem) }
}

function suggestionFor({ pointer = '', kind }: Problem): string {
  const path = fromPointer(pointer)
  if (path.at(-1) === 'categoryId' || path.at(-1) === 'parentId')
    return 'use the id of a category, or null for none; GET /categories lists them'
  const hint = kind === undefined ? undefined : hintsByKind[kind]
  if (hint !== undefined) return hint
  if (path.includes('inputSchema') || path.includes('outputSchema'))
    return 'correct the keyword as defined by JSON Schema, or remove it'
  return 'correct it, or remove it'
}
