import { type Environment, expandVariables } from '../base/expand-variables.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { Redactor } from '../contract/secret.ts'
import { secretSettings } from '../rules/settings.ts'
import { redactValues } from './redact-values.ts'

const secretNames = /(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$/i
// Shorter values occur in ordinary text, which redaction would garble.
const minLength = 8

/** A redactor for the secrets of Tooldex itself, and for the values that a config declares or uses under the name of a secret. */
export function createRedactor(declared: Readonly<Record<string, string>>, env: Environment): Redactor {
  const used = Object.values(declared).flatMap((value) => Array.from(value.matchAll(variable), ([, name = '']) => name))
  const { redact, add } = redactValues(minLength)
  for (const name of [...secretSettings, ...used.filter(isSecret)]) add(name, env[name] ?? '')
  for (const [name, value] of Object.entries(declared)) {
    if (isSecret(name)) add(name, expandVariables(value, env, 'braced').text)
  }
  return redact
}

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)/g
const isSecret = (name: string) => secretNames.test(name)

const nothing = {}

/** The variables that a tool sets; some contain secrets, recognized by their names. */
const declaredBy = ({ resolved, executorConfig }: RunnableTool): Readonly<Record<string, string>> =>
  resolved?.env ?? (executorConfig.env as Record<string, string> | undefined) ?? nothing

/** Creates one redactor for each tool and caches it. */
export function cacheRedactors(env: Environment): (tool: RunnableTool) => Redactor {
  const cache = new WeakMap<object, Redactor>()
  return (tool) => {
    const declared = declaredBy(tool)
    const redact = cache.get(declared) ?? createRedactor(declared, env)
    cache.set(declared, redact)
    return redact
  }
}
