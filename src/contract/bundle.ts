import * as z from 'zod'
import { hints } from '../diagnostics/shape-problems.ts'
import { ToolStatus } from './catalog.ts'
import { HttpServer, StdioServer } from './mcp-server.ts'
import { Limit, Policy } from './policy.ts'
import { registryLimits, ToolDraft } from './registry.ts'
import { SecretReference } from './secret.ts'
import { SourceName, SourceTrust } from './source.ts'
import { Toolset } from './toolset.ts'

/** Size limits of one bundle and of one folder of bundles. */
export const bundleLimits = {
  bytes: 10 * 1024 * 1024,
  /** Of an OpenAPI document. */
  documentBytes: 32 * 1024 * 1024,
  tools: 100_000,
  categories: 10_000,
  policies: 1000,
  toolsets: 1000,
  limits: 1000,
  sources: 1000,
  files: 100_000,
  folderBytes: 100 * 1024 * 1024,
  folderDepth: 32,
} as const

/** Not validated for content here: invalid names are reported with their location, and existing ones can be exported. */
const CategoryName = z.string().trim().min(1).max(registryLimits.category)

/** A category in a file, identified by its name and the name of its parent. */
export const BundleCategory = z.strictObject({
  name: CategoryName,
  description: z.string().max(registryLimits.description).nullable().default(null),
  parent: CategoryName.nullable().default(null),
})
export type BundleCategory = z.infer<typeof BundleCategory>

/** A tool in a file, with its category by name and its target status. */
export const BundleTool = ToolDraft.omit({ categoryId: true })
  .extend({
    category: CategoryName.nullable().default(null),
    /** Where absent, a new tool is a draft and an existing one keeps its status. */
    status: ToolStatus.optional(),
    /** The changelog of the resulting version; not part of the tool. */
    changelog: z.string().max(registryLimits.changelog).nullable().default(null),
  })
  .overwrite(withDisplayName)
export type BundleTool = z.infer<typeof BundleTool>

export const PolicyName = z.string().trim().min(1).max(100)

export const BundlePolicy = z.strictObject({ name: PolicyName, policy: Policy })
export type BundlePolicy = z.infer<typeof BundlePolicy>

/** An MCP server as a source; its command or URL must be approved in each registry. */
export const BundleSource = z.strictObject({
  name: SourceName,
  trust: SourceTrust.default('hold'),
  server: z.union([z.strictObject(StdioServer.shape), z.strictObject(HttpServer.shape)], {
    error: 'must have either a command or a url, and the keys of a server in the guide to upstreams',
  }),
})
export type BundleSource = z.infer<typeof BundleSource>

/** A stored policy; one that is invalid by the current rules denies everything to the callers it applies to. */
export interface StoredPolicy extends BundlePolicy {
  /** The stored policy and its problems, where it is invalid. */
  readonly refused?: { readonly policy: Policy; readonly reason: string }
}

/** The complete content of a registry, without size limits. */
export const WholeBundle = z.strictObject({
  /** The version of this format. */
  tooldex: z.literal(1),
  categories: z.array(BundleCategory).default([]),
  tools: z.array(BundleTool).default([]),
  policies: z.array(BundlePolicy).default([]),
  toolsets: z.array(Toolset).default([]),
  limits: z.array(Limit).default([]),
  sources: z.array(BundleSource).default([]),
})

/** The hint for a bundle, or a folder of bundles, that is too large. */
export const splitHint = 'split it and import part by part, or copy the whole database with: tooldex db export'

/** The parts of a bundle. */
export const bundleKinds = ['tools', 'categories', 'policies', 'toolsets', 'limits', 'sources'] as const
type BundleKind = (typeof bundleKinds)[number]

function atMost<Item extends z.ZodType>(item: Item, kind: BundleKind) {
  const max = bundleLimits[kind]
  return z
    .array(item)
    .max(max, `A bundle can have at most ${max} ${kind}`)
    .register(hints, { hint: splitHint })
    .default([])
}

/** Tools, categories, policies, toolsets, limits and sources as one file, for import into another registry. */
export const Bundle = WholeBundle.extend({
  categories: atMost(BundleCategory, 'categories'),
  tools: atMost(BundleTool, 'tools'),
  policies: atMost(BundlePolicy, 'policies'),
  toolsets: atMost(Toolset, 'toolsets'),
  limits: atMost(Limit, 'limits'),
  sources: atMost(BundleSource, 'sources'),
})
export type Bundle = z.infer<typeof Bundle>

/** The planned changes of one entry of a bundle. */
export interface PlannedChange {
  readonly name: string
  readonly fields: readonly string[]
  /** Present for a tool whose status is one of the fields. */
  readonly status?: { readonly from: ToolStatus; readonly to: ToolStatus } | undefined
}

/** The planned changes of one kind, by name. */
export interface PlanPart {
  readonly create: readonly string[]
  readonly change: readonly PlannedChange[]
  readonly remove: readonly string[]
  readonly unchanged: number
}

/** The changes that bring a registry to the state of a bundle; the fields at the top are about tools. */
export interface BundlePlan extends PlanPart {
  /** Parents before children where they are created or changed, children before parents where they are removed. */
  readonly categories: PlanPart
  readonly policies: PlanPart
  readonly toolsets: PlanPart
  readonly limits: PlanPart
  readonly sources: PlanPart
}

/** `git_status` as `Git status`. */
export function toDisplayName(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_.\-\s]+/g, ' ')
    .trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A tool whose display name is derived from its name where it has none. */
export function withDisplayName<Tool extends { name: string; displayName: string }>(tool: Tool): Tool {
  return tool.displayName === '' ? { ...tool, displayName: toDisplayName(tool.name) || tool.name } : tool
}

const Patterns = z.array(z.string().min(1).max(500)).max(100)

/** The choices for turning an OpenAPI document into tools; a document states its own under `x-tooldex`. */
export const OpenApiOptions = z.strictObject({
  namespace: z
    .string()
    .regex(/^[a-z0-9_]+(?:-[a-z0-9_]+)*$/, 'must contain only lower-case letters, digits, underscores and hyphens')
    .max(40)
    .optional()
    .describe('The namespace of the tools and the prefix of their names; derived from the title where absent.'),
  include: Patterns.optional().describe(
    'Only these operations: an operation id, "GET /users/*" or "tag:users"; * matches any characters.',
  ),
  exclude: Patterns.optional().describe('Not these operations; the same patterns.'),
  baseUrl: z.url().optional().describe('The URL of the service, instead of the servers of the document.'),
  auth: z
    .record(z.string(), SecretReference)
    .optional()
    .describe('The secrets of security schemes by name; "*" for all others.'),
  allowPrivate: z.boolean().optional().describe('Whether the service may be at a private address.'),
  activate: z.boolean().optional().describe('Whether new tools are active at once.'),
  outputSchemas: z
    .boolean()
    .optional()
    .describe('Whether responses are validated against the schemas of the document.'),
})
export type OpenApiOptions = z.infer<typeof OpenApiOptions>
