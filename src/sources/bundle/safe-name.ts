import { registryLimits } from '../../contract/registry.ts'
import type { Finding } from '../../diagnostics/finding.ts'

/** A name as the registry takes it: `getWeather` and `get-weather` become `get_weather`. */
export function toSafeName(name: string): string {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  const safe = apart.replace(/[^a-z0-9_]+/g, '_').slice(0, registryLimits.name)
  return safe === apart ? safe : safe.replace(/^_+|_+$/g, '')
}

/** A namespace as the registry takes it. */
export const toSafeNamespace = (name: string): string =>
  name.replace(/[:\s/]+/gu, '-').slice(0, registryLimits.namespace)

/** Says that a name had to be changed, if it had to be. */
export function warnName(from: string, to: string, path: readonly PropertyKey[]): readonly Finding[] {
  if (from === to) return []
  const message = `'${from}' is called '${to}' here`
  return [{ path, message, hint: 'names in the registry are snake_case', severity: 'warning' }]
}
