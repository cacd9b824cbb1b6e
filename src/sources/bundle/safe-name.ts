import { registryLimits } from '../../contract/registry.ts'
import type { Finding } from '../../diagnostics/finding.ts'

/** Converts a name to the form of the registry: `getWeather` and `get-weather` become `get_weather`. */
export function toSafeName(name: string): string {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  const safe = apart.replace(/[^a-z0-9_]+/g, '_').slice(0, registryLimits.name)
  return safe === apart ? safe : safe.replace(/^_+|_+$/g, '')
}

/** Converts a namespace to the form of the registry. */
export const toSafeNamespace = (name: string): string =>
  name.replace(/[:\s/]+/gu, '-').slice(0, registryLimits.namespace)

/** A warning if the name was changed. */
export function warnName(from: string, to: string, path: readonly PropertyKey[]): readonly Finding[] {
  if (from === to) return []
  const message = `'${from}' was renamed to '${to}'`
  return [{ path, message, hint: 'names in the registry are snake_case', severity: 'warning' }]
}
