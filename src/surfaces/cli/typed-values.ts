import { readJson } from '../../documents/read-json.ts'
import { isOfType } from '../../json-schema/value-types.ts'
import type { FlagProperty } from './tool-flags.ts'

type Properties = Readonly<Record<string, FlagProperty & { readonly items?: FlagProperty }>>

/** Converts strings to the types of a tool's schema; a string that cannot be converted stays, and the call rejects it. */
export function typedValues(
  values: Readonly<Record<string, unknown>>,
  properties: Properties,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const { type, items } = properties[name] ?? {}
      if (!Array.isArray(value)) return [name, typed(value, type)]
      return [name, value.map((each) => typed(each, items?.type))]
    }),
  )
}

function typed(value: unknown, type: unknown): unknown {
  if (typeof value !== 'string') return value
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  // A string stays a string if the schema allows strings or has no type.
  if (type === undefined || types.includes('string')) return value
  try {
    const parsed = readJson(value)
    return types.some((each) => isOfType(parsed, each)) ? parsed : value
  } catch {
    return value
  }
}
