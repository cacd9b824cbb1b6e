import type { Redactor } from '../contract/secret.ts'

/** Takes named values out of texts; more may come to be known at any time. */
export interface ValueRedactor {
  readonly redact: Redactor
  know(name: string, value: string): void
}

/** A redactor for named values; shorter ones occur in ordinary text, and taking them out would only garble it. */
export function redactValues(shortest: number): ValueRedactor {
  const known = new Map<string, string>()
  let forms: readonly (readonly [name: string, form: string])[] = []
  const redact = (text: string) =>
    forms.reduce((rest, [name, form]) => rest.replaceAll(form, `[redacted ${name}]`), text)
  const unfinished = (text: string) => Math.max(0, ...forms.map(([, form]) => overlap(text, form)))
  return {
    redact: Object.assign(redact, { unfinished }),
    know(name, value) {
      if (value.length < shortest || known.get(name) === value) return
      known.set(name, value)
      forms = longestFirst(known)
    },
  }
}

/** The longest first: a secret that begins with another one would lose only its beginning. */
const longestFirst = (known: ReadonlyMap<string, string>) =>
  [...known]
    .flatMap(([name, value]) => formsOf(value).map((form) => [name, form] as const))
    .sort(([, a], [, b]) => b.length - a.length)

/** As it is, and as it stands in a JSON text. */
function formsOf(value: string): readonly string[] {
  const escaped = JSON.stringify(value).slice(1, -1)
  return escaped === value ? [value] : [value, escaped]
}

/** How many characters at the end of a text are the beginning of a secret. */
function overlap(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1)
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length--
  return length
}
