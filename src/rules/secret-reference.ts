import type { McpServer } from '../contract/mcp-server.ts'
import { isSecretHeader, isSecretName } from './secret-names.ts'

const reference =
  /^(?:(Bearer|Basic|Token) )?(secret:[A-Za-z0-9_.-]{1,100}|env:[A-Za-z_][A-Za-z0-9_]*|file:[^\0\r\n]+)$/

/** The secret reference in a value and the scheme before it; undefined for a literal value. */
export function findReference(value: string): { readonly before: string; readonly reference: string } | undefined {
  const [, scheme, found] = reference.exec(value) ?? []
  return found === undefined ? undefined : { before: scheme === undefined ? '' : `${scheme} `, reference: found }
}

/** The variables and headers of a server with the name of a secret whose value is literal, as paths into the definition. */
export function findLiteralSecrets(server: McpServer): readonly (readonly [kind: 'env' | 'headers', name: string])[] {
  const kind = 'command' in server ? 'env' : 'headers'
  const values = 'command' in server ? server.env : server.headers
  const isSecret = kind === 'env' ? isSecretName : isSecretHeader
  return Object.entries(values)
    .filter(([name, value]) => value !== '' && isSecret(name) && findReference(value) === undefined)
    .map(([name]) => [kind, name] as const)
}
