import * as z from 'zod'
import { ToolAnnotations } from './catalog.ts'

/** The annotations with a meaning: those of MCP, and `requiresApproval`. */
export const annotationNames = [...Object.keys(ToolAnnotations.shape), 'requiresApproval']

/** Other spellings of MCP's hints, used in configs and bundles. */
export const annotationAliases: ReadonlyMap<string, string> = new Map([
  ...aliasesOf('read_only', 'readOnly', 'readOnlyHint'),
  ...aliasesOf('destructive', 'destructive', 'destructiveHint'),
  ...aliasesOf('idempotent', 'idempotent', 'idempotentHint'),
  ...aliasesOf('open_world', 'openWorld', 'openWorldHint'),
  ['requires_approval', 'requiresApproval'],
])

function aliasesOf(snake: string, camel: string, hint: string): readonly (readonly [string, string])[] {
  return [snake, camel, `${snake}_hint`].map((alias) => [alias, hint])
}

/** Renames annotations to their MCP names; entries that cannot be renamed stay, so that validation can report them. */
export function toMcpNames<Value>(annotations: Value): Value {
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) return annotations
  const named = new Set(Object.keys(annotations))
  const renamed = Object.entries(annotations).map(([key, value]) => {
    const name = annotationAliases.get(key)
    if (name === undefined || named.has(name) || typeof value !== 'boolean') return [key, value] as const
    named.add(name)
    return [name, value] as const
  })
  return Object.fromEntries(renamed) as Value
}

/** Annotations in any accepted spelling. */
export const InputAnnotations = z.preprocess(toMcpNames, ToolAnnotations)
