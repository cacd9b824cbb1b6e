import * as z from 'zod'
import { yieldTurns } from '../base/yield-turns.ts'
import { describedParse } from '../diagnostics/zod-issues.ts'

/** A list up to this length is parsed at once. */
const shortList = 20

/** A list of a value whose items are parsed one by one. */
interface LongList {
  readonly path: readonly string[]
  readonly items: readonly unknown[]
  readonly item: z.ZodType
}

/** A value, or everything that is wrong with it. */
type Parsed<Value> =
  | { readonly success: true; readonly data: Value }
  | { readonly success: false; readonly issues: readonly z.core.$ZodIssue[] }

/** Parses an output, the items of a long list one by one, so that other requests get their turns. */
export async function parseInTurns<Output extends z.ZodType>(
  schema: Output,
  value: unknown,
): Promise<z.output<Output>> {
  const parsed = await safeParseInTurns(schema, value)
  if (!parsed.success) throw new z.ZodError([...parsed.issues])
  return parsed.data
}

/** The same with all issues of an input. */
export async function safeParseInTurns<Type extends z.ZodType>(
  schema: Type,
  value: unknown,
): Promise<Parsed<z.output<Type>>> {
  const lists = longListsOf(schema, value)
  const whole = schema.safeParse(
    lists.reduce((rest, { path }) => withList(rest, path, []), value),
    describedParse,
  )
  const issues = whole.success ? [] : [...whole.error.issues]
  let data: unknown = whole.data
  const turn = yieldTurns()
  for (const { path, items, item } of lists) {
    const parsed: unknown[] = []
    for (const [index, each] of items.entries()) {
      const result = item.safeParse(each, describedParse)
      if (result.success) parsed.push(result.data)
      else issues.push(...result.error.issues.map((issue) => ({ ...issue, path: [...path, index, ...issue.path] })))
      await turn()
    }
    if (whole.success) data = withList(data, path, parsed)
  }
  return issues.length === 0 ? { success: true, data: data as z.output<Type> } : { success: false, issues }
}

/** The long lists of an object, and of the objects in its fields. */
function longListsOf(schema: z.ZodType, value: unknown, path: readonly string[] = []): readonly LongList[] {
  const object = present(schema)
  if (!(object instanceof z.ZodObject) || typeof value !== 'object' || value === null || hasChecks(object)) return []
  const fields = Object.entries(object.shape) as [string, z.ZodType][]
  return fields.flatMap(([name, own]) => {
    if (!Object.hasOwn(value, name)) return []
    const field = (value as Readonly<Record<string, unknown>>)[name]
    const at = [...path, name]
    const list = present(own)
    if (!(list instanceof z.ZodArray)) return path.length === 0 ? longListsOf(own, field, at) : []
    if (!Array.isArray(field) || field.length <= shortList || !isWithin(list, field.length)) return []
    return [{ path: at, items: field, item: list.element as z.ZodType }]
  })
}

/** The schema of a value that is there. */
function present(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? present(schema.def.innerType as z.ZodType)
    : schema
}

const hasChecks = (schema: z.ZodType): boolean => (schema.def.checks ?? []).length > 0

/** Whether the only check on the whole list is a maximum length, and holds; another one would need all items. */
function isWithin(list: z.ZodArray, length: number): boolean {
  return (list.def.checks ?? []).every((check) => {
    const { check: kind, maximum = -1 } = check._zod.def as { check: string; maximum?: number }
    return kind === 'max_length' && length <= maximum
  })
}

function withList(value: unknown, [name = '', ...rest]: readonly string[], list: readonly unknown[]): object {
  const inner = rest.length === 0 ? list : withList((value as Record<string, unknown>)[name], rest, list)
  return { ...(value as object), [name]: inner }
}
