type Redact = (text: string) => string

/** A JSON value whose strings, numbers and keys are without secrets; the very same one where there are none in it. */
export function redactValue(value: unknown, redact: Redact): unknown {
  return holdsNone(value, redact) ? value : redacted(value, redact)
}

/** Most values hold none, and looking costs less than copying. */
function holdsNone(value: unknown, redact: Redact): boolean {
  if (typeof value === 'string') return redact(value) === value
  if (typeof value === 'number') return redact(String(value)) === String(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every((each) => holdsNone(each, redact))
  for (const name of Object.keys(value)) {
    if (redact(name) !== name || !holdsNone((value as Record<string, unknown>)[name], redact)) return false
  }
  return true
}

function redacted(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') return holdsNone(value, redact) ? value : redact(String(value))
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [redact(name), redacted(each, redact)]))
}
