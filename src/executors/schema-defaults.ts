import { TooldexError } from '../base/errors.ts'
import { isObject } from '../base/json-values.ts'
import type { Finding } from '../diagnostics/finding.ts'
import { withoutPeriod } from '../diagnostics/sentences.ts'
import type { InputSchema } from './read-config.ts'

/** The parameters of a schema that have a default, with its value. */
export function schemaDefaults({ properties }: InputSchema): readonly (readonly [name: string, value: unknown])[] {
  if (!isObject(properties)) return []
  return Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  )
}

/** A finding for a default that the executor rejects: every call that omits the parameter would fail. */
export function refusedDefault(name: string, path: readonly PropertyKey[], build: () => unknown): readonly Finding[] {
  try {
    build()
    return []
  } catch (error) {
    if (!(error instanceof TooldexError)) throw error
    const reason = error.problems[0]?.message ?? error.message
    const message = `the default of '${name}' in the input schema cannot be used: ${withoutPeriod(reason)}`
    return [{ path, message, hint: 'every call without the parameter would fail; change or remove the default' }]
  }
}
