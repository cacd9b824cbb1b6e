type Redact = (text: string) => string

/** A text to replace, and the mark that replaces it. */
export type Replacement = readonly [text: string, mark: string]

/** Applies the replacements to a text, one after the other. */
export const replaceAll = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((rest, [form, mark]) => rest.replaceAll(form, mark), text)

/** A JSON value with its strings, numbers and keys redacted; the same object if there is nothing to redact. */
export function redactValue(value: unknown, redact: Redact): unknown {
  return isClean(JSON.stringify(value) ?? '', redact) ? value : redacted(value, redact)
}

/** The same for a JSON text. */
export function redactJson(json: string, redact: Redact): string {
  return isClean(json, redact) ? json : JSON.stringify(redacted(JSON.parse(json), redact))
}

/** Most values contain no secret, and one long text is searched faster than many short ones. */
const isClean = (text: string, redact: Redact): boolean => redact(text) === text

function redacted(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') return redact(String(value)) === String(value) ? value : redact(String(value))
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [redact(name), redacted(each, redact)]))
}
