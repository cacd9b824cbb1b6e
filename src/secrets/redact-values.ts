import type { Redactor, Replacement } from '../contract/secret.ts'
import { replaceAll } from '../rules/redact-json.ts'
import { secretForms } from './secret-forms.ts'

/** Replaces named values in texts; values can be added at any time. */
export interface ValueRedactor {
  readonly redact: Redactor
  add(name: string, value: string): void
}

/** A redactor for named values of at least `minLength` characters; shorter ones occur in ordinary text. */
export function redactValues(minLength: number): ValueRedactor {
  const values = new Map<string, string>()
  let forms: readonly Replacement[] = []
  const redact = (text: string) => replaceAll(text, forms)
  const unfinished = (text: string, atLeast = 0) => {
    const open = Math.max(atLeast, ...forms.map(([form]) => overlap(text, form)))
    return text.length - beforeMatches(text, forms, text.length - open)
  }
  return {
    redact: Object.assign(redact, { unfinished, replacements: () => forms }),
    add(name, value) {
      if (value.length < minLength || values.get(name) === value) return
      values.set(name, value)
      forms = longestFirst(values, minLength)
    },
  }
}

/** Sorted by length: of a secret that begins with another one, the rest would stay visible otherwise. */
const longestFirst = (values: ReadonlyMap<string, string>, minLength: number) =>
  [...values]
    .flatMap(([name, value]) => secretForms(value, minLength).map((form) => [form, `[redacted ${name}]`] as const))
    .sort(([a], [b]) => b.length - a.length)

/** The number of characters at the end of a text that are the beginning of a secret. */
function overlap(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1)
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length--
  return length
}

/** The cut itself, or the start of the secret that it would divide. */
function beforeMatches(text: string, forms: readonly Replacement[], cut: number): number {
  for (const [form] of forms) {
    const start = text.indexOf(form, Math.max(0, cut - form.length + 1))
    if (start !== -1 && start < cut) return beforeMatches(text, forms, start)
  }
  return cut
}
