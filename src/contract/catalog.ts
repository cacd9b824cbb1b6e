import * as z from 'zod'

import { toOneLine } from '../base/invisible-characters.ts'
import { ExecutorKindName } from './executor-kinds.ts'

/** The origin of a tool: a config, the database, an MCP server, an OpenAPI document, or functions of a program. */
export const ToolSource = z.enum(['cli', 'registry', 'mcp', 'openapi', 'code'])
export type ToolSource = z.infer<typeof ToolSource>

/** The status of a tool in its life cycle; only active tools are offered. */
export const ToolStatus = z.enum(['DRAFT', 'ACTIVE', 'DISABLED', 'DEPRECATED'])
export type ToolStatus = z.infer<typeof ToolStatus>

/** Whether a tool can be called now, or the missing requirement. */
export const ReadinessState = z.enum(['ready', 'needs-program', 'needs-credentials', 'needs-approval', 'upstream-down'])
export type ReadinessState = z.infer<typeof ReadinessState>

/** Whether a call can succeed in a state; with an approval is a way, too. */
export const isCallableIn = (state: ReadinessState): boolean => state === 'ready' || state === 'needs-approval'

/** The readiness of a tool, with the reason where it cannot be called. */
export const Readiness = z.object({
  state: ReadinessState,
  reason: z.string().optional(),
  url: z.string().optional().describe('The page where the missing credential is entered.'),
  lastSuccessAt: z.iso.datetime().optional().describe('The last successful call of the upstream by this server.'),
  p95Ms: z.number().optional().describe('The 95th percentile of the durations of its recent calls.'),
})
export type Readiness = z.infer<typeof Readiness>

/** The path of the page of a server where secrets are stored. */
export const secretsPage = '/admin?tab=secrets'

export const ready: Readiness = Object.freeze({ state: 'ready' })

/** The readiness with the URL on the server of the request; without one the path has no meaning for the caller. */
export function readinessOnServer({ url, ...readiness }: Readiness, origin: string | undefined): Readiness {
  if (url === undefined) return readiness
  if (!url.startsWith('/')) return { ...readiness, url }
  return origin === undefined ? readiness : { ...readiness, url: `${origin}${url}` }
}

/** The readiness as a field, omitted for a tool that is ready. */
export const unlessReady = (readiness: Readiness): { readonly readiness?: Readiness } =>
  readiness.state === 'ready' ? {} : { readiness }

const maxNameLength = 128

/** MCP's hints about a tool; a server may add others. */
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
  .regex(/^[^:\s]*$/u, 'must not contain colons or white space')
const Version = z
  .string()
  .max(maxNameLength)
  .regex(/^[A-Za-z0-9_.+-]+$/, 'must contain only letters, digits and _.+-')
const Json = z.record(z.string(), z.unknown())

/** A tool in the catalog: its MCP fields, its classification and the texts that search uses. */
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
    /** As MCP defines them: passed through, never interpreted. */
    icons: z.array(z.looseObject({ src: z.string().min(1) })).optional(),
    _meta: Json.optional(),
    tags: z.array(z.string()).default([]),
    /** Replaces the description where space is limited. */
    summary: z.string().optional(),
    category: z.string().optional(),
    /** Media types of the input and the output. */
    inputModes: z.array(z.string().min(1)).optional(),
    outputModes: z.array(z.string().min(1)).optional(),
    securitySummary: z.string().optional(),
    /** Requests of users that this tool serves. */
    exampleRequests: z.array(z.string()).optional(),
    /** Where absent, derived from the backend: `code` for a local one, `registry` for a provider, `mcp` for a server. */
    source: ToolSource.optional(),
    /** Active where absent. */
    status: ToolStatus.optional(),
  })
  .check(({ value: tool, issues }) => {
    if ((tool.namespace ?? '') !== '' || tool.version === undefined || /^\d+$/.test(tool.version)) return
    const message =
      'version must be an integer for a tool without a namespace, because its id could not be parsed otherwise'
    issues.push({ code: 'custom', input: tool.version, path: ['version'], message })
  })
export type CatalogTool = z.infer<typeof CatalogTool>

/** A tool as a program passes it: fields with a default are optional. */
export type CatalogToolInput = z.input<typeof CatalogTool>

/** The implementation of a tool: a function of this process, a tool of a provider, or an MCP server. */
export const Backend = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('local'), name: z.string().min(1) }),
  z.strictObject({ kind: z.literal('provider'), providerId: z.string().min(1), toolId: z.string().min(1) }),
  z.strictObject({ kind: z.literal('mcp'), serverName: z.string().min(1) }),
])
export type Backend = z.infer<typeof Backend>

/** The fields of a tool that policies and toolsets compare. */
export type FilteredFields = Pick<CatalogTool, 'name'> & Partial<Pick<CatalogTool, 'namespace' | 'tags' | 'category'>>

/** The catalog from the perspective of one caller: the visible tools and their readiness. */
export interface CatalogView {
  /** The readiness is computed only where the view depends on it. */
  sees(tool: FilteredFields, readiness: () => Readiness): boolean
  readinessOf(tool: CatalogTool, readiness: Readiness): Readiness
}

/** A change of the catalog; `version` is the version after the change. */
export type CatalogEvent =
  | { readonly type: 'refreshed'; readonly version: number }
  | {
      readonly type: 'registered' | 'updated' | 'backendRemoved' | 'toolRemoved'
      readonly version: number
      readonly id: string
      readonly backend: Backend
    }

/** Filters of a search; an absent filter or an empty array matches every tool. Comparison ignores case. */
export const SearchFilters = z.strictObject({
  /** '' matches the tools without a namespace. */
  namespace: z.string().nullish(),
  /** The name of the tool's config. */
  cli: z.string().nullish(),
  /** Alternatives: one match is enough. */
  category: z.union([z.string(), z.array(z.string())]).nullish(),
  tags: z.array(z.string()).nullish(),
  /** Whether a tool needs all of the tags or any of them; default: any here, all on surfaces. */
  tagsMatch: z.enum(['all', 'any']).nullish(),
  /** Alternatives, as the three filters below. */
  source: z.array(ToolSource).nullish(),
  /** The kinds of executors that run the tools. */
  executor: z.array(ExecutorKindName).nullish(),
  /** Only active tools where absent; an empty array matches every status. */
  status: z.array(ToolStatus).nullish(),
  readiness: z.array(ReadinessState).nullish(),
})
export type SearchFilters = z.infer<typeof SearchFilters>

function findNameProblem(name: string): string | undefined {
  if (name === '') return 'name is required'
  // A character has at most two UTF-16 units, so a very long name is rejected without splitting it.
  if (name.length > 2 * maxNameLength || [...name].length > maxNameLength) {
    return `name exceeds ${maxNameLength} characters`
  }
  const invalid = new Set([...name].filter((character) => !/[A-Za-z0-9_.-]/.test(character)))
  return invalid.size === 0 ? undefined : `name contains invalid characters: ${[...invalid].map(toOneLine).join(', ')}`
}

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
export function toMcpAnnotations<Value>(annotations: Value): Value {
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
export const InputAnnotations = z.preprocess(toMcpAnnotations, ToolAnnotations)
