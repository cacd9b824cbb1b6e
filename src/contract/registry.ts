import * as z from 'zod'
import { hasInvisible } from '../base/invisible-characters.ts'
import { hints } from '../diagnostics/shape-problems.ts'
import { asStored, fieldsAsStored } from './as-stored.ts'
import { InputAnnotations, ToolAnnotations, ToolStatus } from './catalog.ts'
import { ExecutorType } from './executor-kinds.ts'
import type { PageQuery } from './stores.ts'
import { ToolExample } from './tool-doc.ts'

/** Size limits of the fields that MCP clients read beside the definition. */
const limits = { icons: 10, iconsBytes: 65_536, metaBytes: 16_384 }

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

const Icon = z.looseObject({
  src: z.string().regex(/^(https?:\/\/|data:image\/)/i, 'must be an http or https URL or a data:image/ URI'),
  mimeType: z.string().max(100).optional(),
  sizes: z.array(z.string().max(20)).max(20).optional(),
  theme: z.enum(['light', 'dark']).optional(),
})

/** The icons of a tool, as MCP defines them. */
export const ToolIcons = z
  .array(Icon)
  .max(limits.icons)
  .refine((icons) => bytesOf(icons) <= limits.iconsBytes, `must take at most ${limits.iconsBytes} bytes as JSON`)

const metaKey =
  /^(?:[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/** Metadata for MCP clients: keys in the form that MCP requires, any JSON values. */
export const ToolMeta = z
  .record(
    z
      .string()
      .regex(metaKey, 'must be a key such as color or com.example/color: letters, digits and -_. after a prefix'),
    z.unknown(),
  )
  .refine((meta) => bytesOf(meta) <= limits.metaBytes, `must take at most ${limits.metaBytes} bytes as JSON`)

/** Limits on the text lengths and array sizes of a registered tool. */
export const registryLimits = {
  name: 100,
  displayName: 200,
  namespace: 128,
  description: 20_000,
  summary: 2000,
  notes: 20_000,
  script: 1_000_000,
  changelog: 2000,
  tag: 100,
  tags: 50,
  examples: 50,
  exampleRequest: 500,
  exampleRequests: 100,
  externalRefs: 50,
  category: 100,
  /** A deeper tree could be neither displayed nor read. */
  categoryDepth: 50,
} as const

const Json = z.record(z.string(), z.unknown())
const snakeCase = 'must contain only lower-case letters, digits and underscores, such as send_report'

/** The name of a registered tool. */
export const RegistryName = z
  .string()
  .min(1)
  .max(registryLimits.name)
  .regex(/^[a-z0-9_]+$/, snakeCase)
  // No policy can name it: the key is lost in an object that is copied key by key.
  .refine((name) => name !== '__proto__', 'must be another name')
  .register(hints, { hint: 'write it like send_report' })

const text = (max: number) => z.string().max(max)
const Tags = z
  .array(z.string().trim().min(1).max(registryLimits.tag))
  .max(registryLimits.tags)
  // Repeated tags are dropped.
  .overwrite((tags) => [...new Set(tags)])

const optionalFields = {
  // Ids of migrated categories need not follow RFC 9562.
  categoryId: z.guid().nullable(),
  namespace: text(registryLimits.namespace)
    .regex(/^[^:\s/]*$/u, 'must not contain colons, slashes or white space')
    .nullable(),
  summary: text(registryLimits.summary).nullable(),
  exampleRequests: z.array(z.string().min(1).max(registryLimits.exampleRequest)).max(registryLimits.exampleRequests),
  examples: z.array(ToolExample).max(registryLimits.examples),
  notes: text(registryLimits.notes).nullable(),
  externalRefs: z.array(z.string().min(1).max(2000)).max(registryLimits.externalRefs),
  annotations: ToolAnnotations,
  icons: ToolIcons,
  _meta: ToolMeta,
  inputModes: z.array(z.string().min(1).max(100)).max(20),
  outputModes: z.array(z.string().min(1).max(100)).max(20),
  securitySummary: text(registryLimits.summary).nullable(),
  scriptContent: text(registryLimits.script).nullable(),
}

/** The kinds of executors that a tool can have; programs are no tools. */
const RegisteredType = ExecutorType.exclude(['program'])

/** The versioned content of a tool: every field that affects its behavior or meaning. */
export const ToolContent = z.strictObject({
  name: RegistryName,
  displayName: z
    .string()
    .trim()
    .min(1)
    .max(registryLimits.displayName)
    .register(hints, { hint: 'the name that people read, such as Send report' }),
  description: z
    .string()
    .trim()
    .min(1)
    .max(registryLimits.description)
    .register(hints, { hint: 'describe what the tool does and when to use it' }),
  tags: Tags,
  inputSchema: z
    .record(z.string(), z.unknown())
    .register(hints, { hint: 'a JSON Schema, such as {"type": "object", "properties": {}}' }),
  outputSchema: Json,
  executorType: RegisteredType,
  executorConfig: Json,
  ...optionalFields,
})
export type ToolContent = z.infer<typeof ToolContent>

/** A tool as it is registered: fields with a default are optional. */
export const ToolDraft = ToolContent.extend({
  // Empty until `withDisplayName` derives it from the name.
  displayName: ToolContent.shape.displayName
    .default('')
    .meta({ description: 'The name that people read; derived from the name where absent.', default: undefined }),
  tags: Tags.default([]),
  outputSchema: Json.default({}),
  executorType: RegisteredType.default('python'),
  executorConfig: Json.default({}),
  categoryId: optionalFields.categoryId.default(null),
  namespace: optionalFields.namespace.default(null),
  summary: optionalFields.summary.default(null),
  exampleRequests: optionalFields.exampleRequests.default([]),
  examples: optionalFields.examples.default([]),
  notes: optionalFields.notes.default(null),
  externalRefs: optionalFields.externalRefs.default([]),
  annotations: InputAnnotations.default({}),
  icons: ToolIcons.default([]),
  _meta: ToolMeta.default({}),
  inputModes: optionalFields.inputModes.default([]),
  outputModes: optionalFields.outputModes.default([]),
  securitySummary: optionalFields.securitySummary.default(null),
  scriptContent: optionalFields.scriptContent.default(null),
})
export type ToolDraft = z.input<typeof ToolDraft>

/** The fields to change; absent fields stay as they are. */
export const ToolChange = ToolContent.extend({ annotations: InputAnnotations }).partial()
export type ToolChange = z.infer<typeof ToolChange>

/** A registered tool. */
export const RegisteredTool = z.object({
  ...fieldsAsStored(ToolContent.shape),
  id: z.guid(),
  status: ToolStatus,
  version: z.int().min(1),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type RegisteredTool = z.infer<typeof RegisteredTool>

/** One version of a tool. */
export const ToolVersion = z.object({
  id: z.guid(),
  toolId: z.guid(),
  version: z.int().min(1),
  changelog: z.string().nullable(),
  isLatest: z.boolean(),
  /** The text of the version before versions became integers. */
  legacyVersion: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  createdBy: z.string().nullable(),
  content: asStored(ToolContent),
})
export type ToolVersion = z.infer<typeof ToolVersion>

/** The steps of the life cycle of a tool, each with its statuses before and after. */
export const transitions = {
  activate: { from: 'DRAFT', to: 'ACTIVE' },
  deactivate: { from: 'ACTIVE', to: 'DISABLED' },
  deprecate: { from: 'ACTIVE', to: 'DEPRECATED' },
  reactivate: { from: 'DISABLED', to: 'ACTIVE' },
  undeprecate: { from: 'DEPRECATED', to: 'ACTIVE' },
} as const satisfies Record<string, { from: ToolStatus; to: ToolStatus }>
export const Transition = z.enum(
  Object.keys(transitions) as [keyof typeof transitions, ...(keyof typeof transitions)[]],
)
export type Transition = z.infer<typeof Transition>

const likeUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the problem of a category name: names must be distinguishable by eye and usable in lookups. */
export function findCategoryNameProblem(name: string): string | undefined {
  if (hasInvisible(name) || /[\r\n\t]/.test(name)) return 'must not contain line breaks or invisible characters'
  if (likeUuid.test(name)) return 'must not have the form of an id, because lookups would treat it as one'
  return name === 'tree' ? "must not be 'tree', because that path returns the whole tree" : undefined
}

/** The name of a new or renamed category. */
export const CategoryName = z
  .string()
  .trim()
  .min(1)
  .max(registryLimits.category)
  .superRefine((name, context) => {
    const message = findCategoryNameProblem(name)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

/** A category in the tree of categories. */
export const Category = z.object({
  id: z.guid(),
  name: z.string(),
  description: z.string().nullable(),
  parentId: z.guid().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type Category = z.infer<typeof Category>

/** The sort orders of tools; stable because ties are broken by id. */
export const toolSorts = ['name', '-name', 'updatedAt', '-updatedAt', 'createdAt', '-createdAt'] as const
export type ToolSort = (typeof toolSorts)[number]

/** The filters of a list of tools. */
export interface ToolListQuery extends PageQuery {
  /** The page number, starting at 1; an alternative to a cursor. */
  readonly page?: number | undefined
  /** Whether to count all matches. */
  readonly total?: boolean | undefined
  readonly sort?: ToolSort | undefined
  readonly status?: readonly ToolStatus[] | undefined
  /** Includes subcategories. */
  readonly categoryId?: string | undefined
  /** Tools must have all of them. */
  readonly tags?: readonly string[] | undefined
  readonly executorType?: readonly ExecutorType[] | undefined
  /** A literal substring of the name, the display name or the description, ignoring case. */
  readonly search?: string | undefined
  /** Ignoring case. */
  readonly namespace?: string | undefined
  /** Only tools with these names. */
  readonly names?: ReadonlySet<string> | undefined
}

/** An active tool with the name of its category. */
export interface OfferedTool {
  readonly tool: RegisteredTool
  readonly category: string | null
}

/** The offered tools, and the position in the change feed that they reflect. */
export interface OfferedTools {
  readonly tools: readonly OfferedTool[]
  /** To be passed to the next `offeredSince`. */
  readonly seen: string
}

/** Tools that were created or changed since an earlier read; `active` reveals deletions. */
export interface OfferedChanges {
  /** In any status; undefined where a complete read is cheaper. */
  readonly tools: readonly OfferedTool[] | undefined
  /** The total number of active tools. */
  readonly active: number
  readonly seen: string
}
