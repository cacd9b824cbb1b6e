import { isObject, sameJson } from '../../base/json-values.ts'
import { hasInvisible, withoutInvisible } from '../../base/visible-text.ts'
import type { LintFinding, LintTool } from './finding.ts'

type Fix = NonNullable<LintFinding['fix']>

/** A value with every text changed, keys included. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]))
}

/** Removes hidden characters from the texts that a model reads; undefined if joiners remain, which languages and emoji need. */
export function fixHidden({ description, inputSchema }: LintTool): Fix | undefined {
  const after = { description: withoutInvisible(description), inputSchema: mapTexts(inputSchema, withoutInvisible) }
  if (hasInvisible(JSON.stringify(after))) return undefined
  const before: Readonly<Record<string, unknown>> = { description, inputSchema }
  const changes = Object.entries(after).filter(([name, value]) => !sameJson(value, before[name]))
  return changes.length === 0
    ? undefined
    : { title: 'Remove the hidden characters', changes: Object.fromEntries(changes) }
}
