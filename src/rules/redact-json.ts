import type { Replacement } from '../contract/secret.ts'
import { requireStorableLevels } from './storable.ts'

type Redact = (text: string) => string

/** Applies the replacements to a text, one after the other. */
export const replaceAll = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((rest, [form, mark]) => rest.replaceAll(form, mark), text)

/** A JSON text with its strings, numbers and keys redacted. */
export function redactJson(json: string, redact: Redact): string {
  // Most values contain no secret, and one long text is searched faster than many short ones.
  return redact(json) === json ? json : JSON.stringify(redacted(requireStorableLevels(JSON.parse(json)), redact))
}

function redacted(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') return redact(String(value)) === String(value) ? value : redact(String(value))
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [redact(name), redacted(each, redact)]))
}
