import * as z from 'zod'
import { hints } from '../diagnostics/shape-problems.ts'
import { withDisplayName } from './display-name.ts'
import { Policy } from './policy.ts'
import { registryLimits, ToolDraft } from './registry.ts'
import { ToolStatus } from './tool-state.ts'

/** How much one bundle, and one folder of bundles, may hold. */
export const bundleLimits = {
  bytes: 10 * 1024 * 1024,
  tools: 100_000,
  categories: 10_000,
  policies: 1000,
  files: 100_000,
  folderBytes: 100 * 1024 * 1024,
  folderDepth: 32,
} as const

/** A name that may be wrong: that is told with its place, and what there is already can be written down. */
const CategoryName = z.string().trim().min(1).max(registryLimits.category)

/** A category as files name it: by its name and that of its parent. */
export const BundleCategory = z.strictObject({
  name: CategoryName,
  description: z.string().max(registryLimits.description).nullable().default(null),
  parent: CategoryName.nullable().default(null),
})
export type BundleCategory = z.infer<typeof BundleCategory>

/** A tool as files name it: its category by name, and what becomes of it. */
export const BundleTool = ToolDraft.omit({ categoryId: true })
  .extend({
    category: CategoryName.nullable().default(null),
    /** Where absent, a new tool is a draft and a known one stays what it is. */
    status: ToolStatus.optional(),
    /** The changelog of the version that this makes; not part of the tool. */
    changelog: z.string().max(registryLimits.changelog).nullable().default(null),
  })
  .overwrite(withDisplayName)
export type BundleTool = z.infer<typeof BundleTool>

/** What a policy is known by. */
export const PolicyName = z.string().trim().min(1).max(100)

/** A policy with the name it is known by. */
export const BundlePolicy = z.strictObject({ name: PolicyName, policy: Policy })
export type BundlePolicy = z.infer<typeof BundlePolicy>

/** All that a registry has, however much that is. */
export const WholeBundle = z.strictObject({
  /** The version of this format. */
  tooldex: z.literal(1),
  categories: z.array(BundleCategory).default([]),
  tools: z.array(BundleTool).default([]),
  policies: z.array(BundlePolicy).default([]),
})

/** What to do about a bundle, or a folder of them, that is too large. */
export const splitHint = 'split it and import part by part, or carry the whole database over with: tooldex db export'

function atMost<Item extends z.ZodType>(item: Item, kind: 'categories' | 'tools' | 'policies') {
  const most = bundleLimits[kind]
  return z
    .array(item)
    .max(most, `A bundle has at most ${most} ${kind}`)
    .register(hints, { hint: splitHint })
    .default([])
}

/** Tools, categories and policies as one file that another registry can read. */
export const Bundle = WholeBundle.extend({
  categories: atMost(BundleCategory, 'categories'),
  tools: atMost(BundleTool, 'tools'),
  policies: atMost(BundlePolicy, 'policies'),
})
export type Bundle = z.infer<typeof Bundle>

/** What is to be different in one thing. */
export interface PlannedChange {
  readonly name: string
  readonly fields: readonly string[]
  /** Of a tool whose status is one of the fields. */
  readonly status?: { readonly from: ToolStatus; readonly to: ToolStatus } | undefined
}

/** What is to be done to one kind of thing, by name. */
export interface PlanPart {
  readonly create: readonly string[]
  readonly change: readonly PlannedChange[]
  readonly remove: readonly string[]
  readonly unchanged: number
}

/** What makes a registry what a bundle says; the parts at the top are about tools. */
export interface BundlePlan extends PlanPart {
  /** Parents before children where they are created or changed, children before parents where they are removed. */
  readonly categories: PlanPart
  readonly policies: PlanPart
}
