import type { Backend } from '../contract/catalog.ts'

/** Selects the backend that runs a tool, from at least one, in order of registration. */
export type SelectBackend = (backends: readonly Backend[]) => Backend

const order = ['local', 'provider', 'mcp'] as const

/** The nearest backend: local, then provider, then mcp; the first of its kind. */
export const selectNearest: SelectBackend = (backends) => {
  const nearest = order.flatMap((kind) => backends.filter((backend) => backend.kind === kind))
  return nearest[0] as Backend
}

/** Whether two backends are the same one. */
export function isSameBackend(a: Backend, b: Backend): boolean {
  if (a.kind === 'local') return b.kind === 'local' && a.name === b.name
  if (a.kind === 'mcp') return b.kind === 'mcp' && a.serverName === b.serverName
  return b.kind === 'provider' && a.providerId === b.providerId && a.toolId === b.toolId
}
