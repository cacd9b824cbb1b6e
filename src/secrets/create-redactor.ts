import { type Environment, expandVariables } from '../base/expand-variables.ts'

/** Takes the secrets out of a text. */
export type Redactor = (text: string) => string

const secretNames = /(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$/i
const ownSecrets = ['TOOLDEX_API_KEY', 'TOOLDEX_SECRET_KEY', 'DATABASE_URL']
// Shorter values occur in ordinary text, and taking them out would only garble it.
const shortest = 8

/** A redactor for Tooldex's own secrets and for the variables of a config whose name says that they are secret. */
export function createRedactor(declared: Readonly<Record<string, string>>, env: Environment): Redactor {
  const secrets: [string, string][] = []
  for (const name of ownSecrets) if (env[name] !== undefined) secrets.push([name, env[name]])
  for (const [name, value] of Object.entries(declared)) {
    if (secretNames.test(name)) secrets.push([name, expandVariables(value, env, 'braced').text])
  }
  const long = secrets.filter(([, value]) => value.length >= shortest)
  return (text) => long.reduce((rest, [name, value]) => rest.replaceAll(value, `[redacted ${name}]`), text)
}
