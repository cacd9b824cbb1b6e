import { type Environment, expandVariables } from '../base/expand-variables.ts'

/** Takes the secrets out of a text. */
export interface Redactor {
  (text: string): string
  /** How much of the end of a text may be the beginning of a secret. */
  readonly unfinished: (text: string) => number
}

const secretNames = /(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$/i
const ownSecrets = ['TOOLDEX_API_KEY', 'TOOLDEX_SECRET_KEY', 'DATABASE_URL']
// Shorter values occur in ordinary text, and taking them out would only garble it.
const shortest = 8

/** A redactor for Tooldex's own secrets, and for what a config declares or uses under a name that says it is secret. */
export function createRedactor(declared: Readonly<Record<string, string>>, env: Environment): Redactor {
  const used = Object.values(declared).flatMap((value) => Array.from(value.matchAll(variable), ([, name = '']) => name))
  const secrets = [...ownSecrets, ...used.filter(isSecret)].map((name) => [name, env[name] ?? ''] as const)
  for (const [name, value] of Object.entries(declared)) {
    if (isSecret(name)) secrets.push([name, expandVariables(value, env, 'braced').text])
  }
  // The longest first: a secret that begins with another one would lose only its beginning.
  const long = secrets.filter(([, value]) => value.length >= shortest).sort(([, a], [, b]) => b.length - a.length)
  const redact = (text: string) =>
    long.reduce((rest, [name, value]) => rest.replaceAll(value, `[redacted ${name}]`), text)
  const unfinished = (text: string) => Math.max(0, ...long.map(([, value]) => overlap(text, value)))
  return Object.assign(redact, { unfinished })
}

/** How many characters at the end of a text are the beginning of a secret. */
function overlap(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1)
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length--
  return length
}

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)/g
const isSecret = (name: string) => secretNames.test(name)
