import { type Readiness, secretsPage } from '../../contract/catalog.ts'
import { processEnv } from '../../rules/settings.ts'

const parse = (reference: string) => /^(?:(env|file|secret):)?(.*)$/s.exec(reference) ?? []

/** Whether a reference certainly resolves to nothing; files and, without a registry, stored secrets are checked by the call. */
export function isMissing(reference: string, stored: ReadonlySet<string> | undefined): boolean {
  const [, kind = 'secret', name = ''] = parse(reference)
  if (kind === 'env') return !processEnv[name]
  return kind === 'secret' && stored !== undefined && !stored.has(name)
}

/** The readiness of a tool without a credential. */
export function lackOf(reference: string): Readiness {
  const [, kind = 'secret', name = ''] = parse(reference)
  if (kind === 'env') return { state: 'needs-credentials', reason: `The variable ${name} of the server is not set.` }
  const reason = `There is no secret '${name}'; store it with: tooldex secrets set ${name}`
  return { state: 'needs-credentials', reason, url: secretsPage }
}
