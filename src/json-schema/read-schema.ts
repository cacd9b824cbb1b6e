import { type Problem, toPointer } from '../base/problem.ts'
import { WorkBudget } from '../base/work-budget.ts'
import type { Dialect } from './keywords.ts'
import { schemaLimits } from './limits.ts'
import { measureSchema } from './measure-schema.ts'
import { type RefTargets, resolveRefs } from './resolve-refs.ts'
import { isSchemaObject, type SchemaObject, SchemaWalk } from './walk-schema.ts'

/** A checked schema, which can be built if it has no problems. */
export interface ReadSchema {
  readonly schema: SchemaObject | boolean
  readonly dialect: Dialect
  readonly targets: RefTargets
  /** The pointer of each subschema. */
  readonly pointers: ReadonlyMap<unknown, string>
  readonly subschemas: number
  readonly problems: readonly Problem[]
}

const dialects: Readonly<Record<string, Dialect>> = {
  'json-schema.org/draft-07/schema': 'draft-07',
  'json-schema.org/draft/2020-12/schema': '2020-12',
}

/** Checks a whole schema; compiles nothing and fetches nothing. */
export function readSchema(input: unknown, pointer: string, budget?: WorkBudget): ReadSchema {
  const { copy, problems } = measureSchema(input, pointer)
  return problems.length > 0 ? rejected(problems) : readMeasured(copy, pointer, budget)
}

/** Checks a measured schema. */
export function readMeasured(
  schema: unknown,
  pointer: string,
  budget: WorkBudget = new WorkBudget(schemaLimits.steps),
): ReadSchema {
  const dialect = dialectOf(schema)
  if (dialect === undefined) return rejected([unknownDialect(pointer)])
  const walk = new SchemaWalk(dialect, pointer, budget)
  walk.walk(schema, [])
  const targets = resolveRefs(walk)
  const usable = typeof schema === 'boolean' || isSchemaObject(schema) ? schema : false
  const pointers = new Map([...walk.seen].map(([each, path]) => [each, `#${toPointer(path)}`]))
  return { schema: usable, dialect, targets, pointers, subschemas: walk.seen.size, problems: walk.problems }
}

function dialectOf(schema: unknown): Dialect | undefined {
  const uri = isSchemaObject(schema) ? schema.$schema : undefined
  if (uri === undefined) return '2020-12'
  if (typeof uri !== 'string') return undefined
  const key = uri.replace(/^https?:\/\//, '').replace(/#$/, '')
  return Object.hasOwn(dialects, key) ? dialects[key] : undefined
}

const unknownDialect = (pointer: string): Problem => ({
  severity: 'error',
  pointer: `${pointer}/$schema`,
  message: '$schema must be draft-07 or 2020-12',
  hint: '"http://json-schema.org/draft-07/schema#" or "https://json-schema.org/draft/2020-12/schema"',
})

const rejected = (problems: readonly Problem[]): ReadSchema => ({
  schema: false,
  dialect: '2020-12',
  targets: new Map(),
  pointers: new Map(),
  subschemas: 0,
  problems,
})
