import type { Redactor } from '../contract/secret.ts'

/** A redactor for named values; they are asked for each time, because more may have come. */
export function redactValues(
  known: () => Iterable<readonly [name: string, value: string]>,
  shortest: number,
): Redactor {
  // The longest first: a secret that begins with another one would lose only its beginning.
  const longest = () =>
    [...known()]
      .filter(([, value]) => value.length >= shortest)
      .flatMap(([name, value]) => formsOf(value).map((form) => [name, form] as const))
      .sort(([, a], [, b]) => b.length - a.length)
  const redact = (text: string) =>
    longest().reduce((rest, [name, value]) => rest.replaceAll(value, `[redacted ${name}]`), text)
  const unfinished = (text: string) => Math.max(0, ...longest().map(([, value]) => overlap(text, value)))
  return Object.assign(redact, { unfinished })
}

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
