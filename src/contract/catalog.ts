import * as z from 'zod'
import { toOneLine } from '../base/visible-text.ts'
import { type Readiness, ReadinessState, ToolSource, ToolStatus } from './tool-state.ts'

const maxNameLength = 128

/** MCP's hints about a tool; a server may add its own. */
export const ToolAnnotations = z.looseObject({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
})
export type ToolAnnotations = z.infer<typeof ToolAnnotations>

const ToolName = z.string().check(({ value, issues }) => {
  const message = findNameProblem(value)
  if (message !== undefined) issues.push({ code: 'custom', input: value, message })
})

/** Anything that cannot be mistaken for the next part of an id. */
const Namespace = z
  .string()
  .max(maxNameLength)
  .regex(/^[^:\s]*$/u, 'must have no colon and no blank')
const Version = z
  .string()
  .max(maxNameLength)
  .regex(/^[A-Za-z0-9_.+-]+$/, 'must be of letters, digits and _.+-')
const Json = z.record(z.string(), z.unknown())

/** A tool as the catalog keeps it: what MCP says of it, where it belongs, and what helps to find it. */
export const CatalogTool = z
  .strictObject({
    name: ToolName,
    namespace: Namespace.optional(),
    version: Version.optional(),
    title: z.string().optional(),
    description: z.string().default(''),
    inputSchema: Json,
    outputSchema: Json.optional(),
    annotations: ToolAnnotations.optional(),
    /** As MCP has them: kept and handed on, never read. */
    icons: z.array(z.looseObject({ src: z.string().min(1) })).optional(),
    _meta: Json.optional(),
    tags: z.array(z.string()).default([]),
    /** Shown instead of the description where there is little room. */
    summary: z.string().optional(),
    category: z.string().optional(),
    /** Media types the tool takes and gives. */
    inputModes: z.array(z.string().min(1)).optional(),
    outputModes: z.array(z.string().min(1)).optional(),
    securitySummary: z.string().optional(),
    /** What a user would type to get this tool. */
    exampleRequests: z.array(z.string()).optional(),
    /** Where absent, what its backend says: `code` for a local one, `registry` for a provider's, `mcp` for a server's. */
    source: ToolSource.optional(),
    /** Active where absent. */
    status: ToolStatus.optional(),
  })
  .check(({ value: tool, issues }) => {
    if ((tool.namespace ?? '') !== '' || tool.version === undefined || /^\d+$/.test(tool.version)) return
    const message = 'version must be a whole number where there is no namespace, or the id could not be read back'
    issues.push({ code: 'custom', input: tool.version, path: ['version'], message })
  })
export type CatalogTool = z.infer<typeof CatalogTool>

/** A tool as a program may write it: everything that has a default may be left out. */
export type CatalogToolInput = z.input<typeof CatalogTool>

/** Who runs a tool: a function of this process, a tool of a provider, or an MCP server. */
export const Backend = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('local'), name: z.string().min(1) }),
  z.strictObject({ kind: z.literal('provider'), providerId: z.string().min(1), toolId: z.string().min(1) }),
  z.strictObject({ kind: z.literal('mcp'), serverName: z.string().min(1) }),
])
export type Backend = z.infer<typeof Backend>

/** What one caller may know of the tools: which there are, and what stands in the way of calling them. */
export interface CatalogView {
  sees(tool: CatalogTool): boolean
  readinessOf(tool: CatalogTool, readiness: Readiness): Readiness
}

/** What happened to the catalog; `version` is the one it has since. */
export type CatalogEvent =
  | { readonly type: 'refreshed'; readonly version: number }
  | {
      readonly type: 'registered' | 'updated' | 'backendRemoved' | 'toolRemoved'
      readonly version: number
      readonly id: string
      readonly backend: Backend
    }

/** Which tools a search looks at: a filter that is absent, or a list that is empty, leaves none out. Case does not count. */
export const SearchFilters = z.strictObject({
  /** '' means the tools that have none. */
  namespace: z.string().optional(),
  /** The config that a tool comes from. */
  cli: z.string().optional(),
  /** One of several is enough. */
  category: z.union([z.string(), z.array(z.string())]).optional(),
  tags: z.array(z.string()).optional(),
  /** Whether a tool needs all of the tags, or any of them as it does by default. */
  tagsMatch: z.enum(['all', 'any']).optional(),
  /** One of these is enough, here and below. */
  source: z.array(ToolSource).optional(),
  /** Only active tools where absent; an empty list leaves none out. */
  status: z.array(ToolStatus).optional(),
  readiness: z.array(ReadinessState).optional(),
})
export type SearchFilters = z.infer<typeof SearchFilters>

function findNameProblem(name: string): string | undefined {
  if (name === '') return 'name is required'
  // A character takes two units at most, so a very long text need not be taken apart.
  if (name.length > 2 * maxNameLength || [...name].length > maxNameLength) {
    return `name exceeds ${maxNameLength} characters`
  }
  const bad = new Set([...name].filter((character) => !/[A-Za-z0-9_.-]/.test(character)))
  return bad.size === 0 ? undefined : `name contains invalid characters: ${[...bad].map(toOneLine).join(', ')}`
}
