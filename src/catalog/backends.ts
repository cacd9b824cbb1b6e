import type { Backend } from '../contract/catalog.ts'

/** Says which of a tool's backends, in order of registration and at least one, runs it. */
export type SelectBackend = (backends: readonly Backend[]) => Backend

const order = ['local', 'provider', 'mcp'] as const

/** The nearest backend: local, then provider, then mcp; the first of its kind. */
export const selectNearest: SelectBackend = (backends) => {
  const nearest = order.flatMap((kind) => backends.filter((backend) => backend.kind === kind))
  return nearest[0] as Backend
}

/** Whether two backends are the same one. */
export function isSameBackend(a: Backend, b: Backend): boolean {
  return identityOf(a) === identityOf(b)
}

/** Quoted, so that no name can look like two. */
function identityOf(backend: Backend): string {
  if (backend.kind === 'local') return JSON.stringify(['local', backend.name])
  if (backend.kind === 'mcp') return JSON.stringify(['mcp', backend.serverName])
  return JSON.stringify(['provider', backend.providerId, backend.toolId])
}
