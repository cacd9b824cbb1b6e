import { didYouMean } from '../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import type { Finding } from '../diagnostics/finding.ts'
import type { InputSchema } from './read-config.ts'

const maxSteps = 1000

/** The parameters that a schema declares in all its branches; undefined if it accepts any name. */
export function parameterNames(schema: InputSchema): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  const pending: unknown[] = [schema]
  for (let step = 0; pending.length > 0; step++) {
    const part = pending.pop()
    if (step > maxSteps) return undefined
    if (!isObject(part)) continue
    const { additionalProperties: additional = false, patternProperties, properties, $ref, allOf, anyOf, oneOf } = part
    if (additional !== false || patternProperties !== undefined) return undefined
    if (isObject(properties)) for (const name of Object.keys(properties)) names.add(name)
    for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) pending.push(...list)
    pending.push(part.if, part.then, part.else)
    if (typeof $ref === 'string') pending.push(follow(schema, $ref))
  }
  return names
}

function follow(schema: InputSchema, ref: string): unknown {
  const parts = ref.startsWith('#/') ? ref.slice(2).split('/') : undefined
  return parts?.reduce<unknown>((value, part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }, schema)
}

// One budget per tool, because a config may use thousands of unknown names.
const suggestions = new WeakMap<ReadonlySet<string>, WorkBudget>()

/** A finding for a name that is not a parameter of the tool. */
export function findUnknownParameter(
  name: string,
  names: ReadonlySet<string> | undefined,
  path: readonly PropertyKey[],
): readonly Finding[] {
  if (names === undefined || names.has(name)) return []
  const budget = suggestions.get(names) ?? new WorkBudget(suggestionSteps)
  suggestions.set(names, budget)
  const message = `the input schema has no parameter '${name}'.${didYouMean(name, names, budget)}`
  const hint = names.size === 0 ? 'add it to the input schema' : `it has: ${[...names].slice(0, 20).join(', ')}`
  return [{ path, message, hint }]
}

const isObject = (value: unknown): value is InputSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
