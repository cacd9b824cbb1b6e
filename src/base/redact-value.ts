type Redact = (text: string) => string

/** A text to look for, and the mark in its place. */
export type Replacement = readonly [text: string, mark: string]

/** A text with every replacement made, one after the other. */
export const replaceAll = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((rest, [form, mark]) => rest.replaceAll(form, mark), text)

/** A JSON value whose strings, numbers and keys are without secrets; the very same one where there are none in it. */
export function redactValue(value: unknown, redact: Redact): unknown {
  return textHoldsNone(JSON.stringify(value) ?? '', redact) ? value : redacted(value, redact)
}

/** The same for a JSON text. */
export function redactJson(json: string, redact: Redact): string {
  return textHoldsNone(json, redact) ? json : JSON.stringify(redacted(JSON.parse(json), redact))
}

/** Most values hold none, and one long text is looked through faster than many short ones. */
const textHoldsNone = (text: string, redact: Redact): boolean => redact(text) === text

function redacted(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') return redact(String(value)) === String(value) ? value : redact(String(value))
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [redact(name), redacted(each, redact)]))
}
