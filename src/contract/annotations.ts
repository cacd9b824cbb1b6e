import * as z from 'zod'
import { ToolAnnotations } from './catalog.ts'

/** The annotations that mean something: those of MCP, and whether each call waits for a person. */
export const annotationNames = [...Object.keys(ToolAnnotations.shape), 'requiresApproval']

/** Other spellings of MCP's hints, as configs and bundles have them. */
export const annotationAliases: ReadonlyMap<string, string> = new Map([
  ...both('read_only', 'readOnly', 'readOnlyHint'),
  ...both('destructive', 'destructive', 'destructiveHint'),
  ...both('idempotent', 'idempotent', 'idempotentHint'),
  ...both('open_world', 'openWorld', 'openWorldHint'),
  ['requires_approval', 'requiresApproval'],
])

function both(snake: string, camel: string, hint: string): readonly (readonly [string, string])[] {
  return [snake, camel, `${snake}_hint`].map((alias) => [alias, hint])
}

/** Annotations under the names that MCP gives them; what cannot be renamed stays, for a check to speak of. */
export function toMcpNames<Given>(annotations: Given): Given {
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) return annotations
  const named = new Set(Object.keys(annotations))
  const renamed = Object.entries(annotations).map(([key, value]) => {
    const name = annotationAliases.get(key)
    if (name === undefined || named.has(name) || typeof value !== 'boolean') return [key, value] as const
    named.add(name)
    return [name, value] as const
  })
  return Object.fromEntries(renamed) as Given
}

/** Annotations as whoever registers a tool may write them. */
export const InputAnnotations = z.preprocess(toMcpNames, ToolAnnotations)
