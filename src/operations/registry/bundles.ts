import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { Bundle, type BundlePlan, type BundleTool } from '../../contract/bundle.ts'
import type { Category, RegisteredTool, ToolContent } from '../../contract/registry.ts'
import { ToolContent as ToolContentSchema, transitions } from '../../contract/registry.ts'
import type { Stores } from '../../contract/stores.ts'
import type { ToolStatus } from '../../contract/tool-state.ts'
import { planBundle, readBundle } from '../../sources/bundle/index.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { contentOf, refuseInvalid, registryOf } from './registry.ts'

const tag = 'bundles'
const Part = z.object({
  create: z.array(z.string()),
  change: z.array(z.object({ name: z.string(), fields: z.array(z.string()) })),
  remove: z.array(z.string()),
  unchanged: z.int(),
})
const Plan = Part.extend({ categories: Part, policies: Part })

/** Export everything. */
export const exportBundle = defineOperation({
  name: 'bundle.export',
  summary: 'All tools and categories as one bundle that another registry can take.',
  scope: 'read',
  http: { method: 'get', path: '/bundle', tag },
  input: z.object({}),
  output: Bundle,
  handle: (_, context) => readCurrent(registryOf(context).stores, context.caller.workspace),
})

/** Import a bundle. */
export const importBundle = defineOperation({
  name: 'bundle.import',
  summary: 'Make the registry what a bundle says, all or nothing; with dryRun only say what would change.',
  scope: 'admin',
  http: { method: 'post', path: '/bundle', tag },
  input: z.strictObject({
    bundle: Bundle.optional().describe('The bundle itself, or else its text.'),
    text: z.string().optional().describe('YAML or JSON: a bundle, a CLI config, or a list of tools of OpenAI or MCP.'),
    file: z.string().max(500).default('bundle').describe('What to call the text in messages.'),
    prune: z.boolean().default(false).describe('Remove what the bundle does not have.'),
    dryRun: z.boolean().default(false),
  }),
  output: z.object({ plan: Plan, applied: z.boolean(), warnings: z.array(z.string()) }),
  async handle({ bundle, text, file, prune, dryRun }, context) {
    const read = bundle === undefined ? readBundle(text ?? '', { file }) : { bundle, warnings: [] }
    await refuseInvalidTools(context, read.bundle)
    const warnings = read.warnings.map(({ message }) => message)
    const { stores } = registryOf(context)
    const { workspace } = context.caller
    if (dryRun)
      return {
        plan: toPlan(planBundle(await readCurrent(stores, workspace), read.bundle, { prune })),
        applied: false,
        warnings,
      }
    const plan = await stores.transaction(async (inner) => {
      const planned = planBundle(await readCurrent(inner, workspace), read.bundle, { prune })
      await apply(inner, context, planned, read.bundle)
      return planned
    })
    return { plan: toPlan(plan), applied: true, warnings }
  },
})

const toPlan = (plan: BundlePlan): z.output<typeof Plan> => structuredClone(plan) as z.output<typeof Plan>

async function refuseInvalidTools(context: OperationContext, { tools }: Bundle): Promise<void> {
  const problems: { message: string; problems: TooldexError['problems'] }[] = []
  for (const tool of tools) {
    try {
      await refuseInvalid(context, toContent(tool, null))
    } catch (error) {
      if (!(error instanceof TooldexError) || error.code !== 'TOOL_INVALID') throw error
      problems.push({ message: error.message, problems: error.problems })
    }
  }
  if (problems.length === 0) return
  const message = problems.map((each) => each.message).join(' ')
  throw new TooldexError('TOOL_INVALID', message, { problems: problems.flatMap((each) => each.problems) })
}

async function readCurrent(stores: Stores, workspace: string): Promise<Bundle> {
  const categories = await stores.categories.all(workspace)
  const names = new Map(categories.map(({ id, name }) => [id, name]))
  const tools: BundleTool[] = []
  let cursor: string | undefined
  do {
    const page = await stores.tools.list(workspace, { limit: 500, sort: 'name', cursor })
    tools.push(...page.items.map((tool) => toBundleTool(tool, names)))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return {
    tooldex: 1,
    categories: categories.map(({ name, description, parentId }) => ({
      name,
      description,
      parent: parentId === null ? null : (names.get(parentId) ?? null),
    })),
    tools,
    policies: [],
  }
}

function toBundleTool(tool: RegisteredTool, names: ReadonlyMap<string, string>): BundleTool {
  const { categoryId, ...content } = contentOf(tool)
  return {
    ...content,
    category: categoryId === null ? null : (names.get(categoryId) ?? null),
    status: tool.status,
    changelog: null,
  }
}

function toContent(
  { category: _category, status: _status, changelog: _changelog, ...tool }: BundleTool,
  categoryId: string | null,
): ToolContent {
  return ToolContentSchema.parse({ ...tool, categoryId })
}

/** Categories first, because tools name them; they go last, because tools are in them. */
async function apply(stores: Stores, context: OperationContext, plan: BundlePlan, wanted: Bundle): Promise<void> {
  const { caller } = context
  const byName = new Map(wanted.categories.map((category) => [category.name, category]))
  const idOf = async (name: string | null) =>
    name === null ? null : ((await stores.categories.get(caller.workspace, name)) as Category).id
  for (const name of plan.categories.create) {
    const { description = null, parent = null } = byName.get(name) ?? {}
    await stores.categories.create(caller, { name, description, parentId: await idOf(parent) })
  }
  for (const { name } of plan.categories.change) {
    const { description = null, parent = null } = byName.get(name) ?? {}
    await stores.categories.change(caller, name, { description, parentId: await idOf(parent) })
  }
  const tools = new Map(wanted.tools.map((tool) => [tool.name, tool]))
  await createTools(
    stores,
    context,
    plan.create.map((name) => tools.get(name) as BundleTool),
    idOf,
  )
  for (const { name, fields } of plan.change)
    await changeTool(stores, context, tools.get(name) as BundleTool, { fields, idOf })
  for (const name of plan.remove) await stores.tools.remove(caller, name)
  for (const name of plan.categories.remove) await stores.categories.remove(caller, name, { reparent: false })
}

type IdOf = (name: string | null) => Promise<string | null>

async function createTools(
  stores: Stores,
  { caller }: OperationContext,
  tools: readonly BundleTool[],
  idOf: IdOf,
): Promise<void> {
  const ids = new Map<string | null, string | null>()
  for (const category of new Set(tools.map((tool) => tool.category))) ids.set(category, await idOf(category))
  const drafts = tools.map((tool) => ({
    content: toContent(tool, ids.get(tool.category) ?? null),
    status: tool.status ?? ('DRAFT' as const),
    changelog: tool.changelog ?? undefined,
  }))
  await stores.tools.createMany(caller, drafts)
}

async function changeTool(
  stores: Stores,
  { caller }: OperationContext,
  tool: BundleTool,
  { fields, idOf }: { fields: readonly string[]; idOf: IdOf },
): Promise<void> {
  const content = toContent(tool, await idOf(tool.category))
  const changelog = tool.changelog ?? undefined
  const { tool: now } = await stores.tools.change(caller, tool.name, () => content, { changelog })
  if (!fields.includes('status') || tool.status === undefined) return
  for (const step of wayTo(now.status, tool.status)) await stores.tools.transition(caller, tool.name, step)
}

/** The steps from one status to another; there is at most one other in between. */
function wayTo(from: ToolStatus, to: ToolStatus): readonly (keyof typeof transitions)[] {
  if (from === to) return []
  const steps = Object.entries(transitions) as [keyof typeof transitions, { from: ToolStatus; to: ToolStatus }][]
  const direct = steps.find(([, step]) => step.from === from && step.to === to)
  if (direct !== undefined) return [direct[0]]
  const first = steps.find(([, step]) => step.from === from && step.to === 'ACTIVE')
  const second = steps.find(([, step]) => step.from === 'ACTIVE' && step.to === to)
  if (first !== undefined && second !== undefined) return [first[0], second[0]]
  throw new TooldexError('ILLEGAL_STEP', `There is no way from ${from} to ${to}.`)
}
