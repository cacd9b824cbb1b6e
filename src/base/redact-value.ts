type Redact = (text: string) => string

/** A JSON value whose strings, numbers and keys are without secrets; the very same one where there are none in it. */
export function redactValue(value: unknown, redact: Redact): unknown {
  return textHoldsNone(value, redact) ? value : redacted(value, redact)
}

/** Most values hold none, and one long text is looked through faster than many short ones. */
function textHoldsNone(value: unknown, redact: Redact): boolean {
  const text = JSON.stringify(value) ?? ''
  return redact(text) === text
}

function redacted(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') return redact(String(value)) === String(value) ? value : redact(String(value))
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [redact(name), redacted(each, redact)]))
}
