import { readJson } from '../../documents/read-json.ts'
import type { FlagProperty } from './tool-flags.ts'

type Properties = Readonly<Record<string, FlagProperty & { readonly items?: FlagProperty }>>

/** Values typed as texts, as the schema of a tool wants them; what cannot be read stays a text, and the call says so. */
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
  // A text is always what it is where texts are allowed, or where nothing is said.
  if (type === undefined || types.includes('string')) return value
  try {
    const read = readJson(value)
    return types.some((each) => isOf(read, each)) ? read : value
  } catch {
    return value
  }
}

function isOf(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}
