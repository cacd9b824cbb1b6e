import { TooldexError } from '../../base/errors.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type {
  Bundle,
  BundleCategory,
  BundlePlan,
  BundlePolicy,
  BundleSource,
  BundleTool,
  PlanPart,
} from '../../contract/bundle.ts'
import type { DefinitionStore } from '../../contract/policy.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import type { NewTool, Stores } from '../../contract/stores.ts'
import { findStatusSteps } from '../checks/check-bundle.ts'
import { refuseWithoutProposal } from '../checks/replay-gate.ts'
import type { OperationContext } from '../operation.ts'
import { withFilePolicy } from '../search/tool-view.ts'
import { bundleToolContent } from './current-bundle.ts'

/** Creates categories before the tools that refer to them, and removes them after the tools in them. */
export async function applyPlan(
  stores: Stores,
  context: OperationContext<'catalog'>,
  plan: BundlePlan,
  wanted: Bundle,
): Promise<void> {
  const { caller } = context
  const byName = new Map(wanted.categories.map((category) => [category.name, category]))
  const idOf = (name: string | null) => findCategory(stores, caller.workspace, name)
  const create = plan.categories.create.map((name) => byName.get(name) as BundleCategory)
  const change = plan.categories.change.map(({ name }) => byName.get(name) as BundleCategory)
  if (create.length + change.length > 0) await stores.categories.arrange(caller, { create, change })
  const tools = new Map(wanted.tools.map((tool) => [tool.name, tool]))
  const created = plan.create.map((name) => tools.get(name) as BundleTool)
  await createTools(stores, context, created, idOf)
  const policies = withFilePolicy(context, await stores.policies.list(caller.workspace))
  for (const { name, fields } of plan.change)
    await changeTool(stores, context, tools.get(name) as BundleTool, { fields, idOf, policies })
  for (const name of plan.remove) await stores.tools.remove(caller, name)
  for (const name of plan.categories.remove) await stores.categories.remove(caller, name, { reparent: false })
  await applyRules(stores, context, plan, wanted)
  await applySources(stores, context, plan, wanted)
}

/** A created or changed server is started only after its command or URL is approved here. */
async function applySources(stores: Stores, { caller }: OperationContext, { sources }: BundlePlan, wanted: Bundle) {
  const byName = new Map(wanted.sources.map((source) => [source.name, source]))
  for (const name of sources.create) await stores.sources.create(caller, byName.get(name) as BundleSource)
  for (const { name } of sources.change) {
    const { server, trust } = byName.get(name) as BundleSource
    await stores.sources.change(caller, name, () => ({ action: 'change', change: { server, trust } }))
  }
  for (const name of sources.remove) await stores.sources.remove(caller, name)
}

/** Policies, toolsets and limits do not depend on each other. */
async function applyRules(stores: Stores, { caller }: OperationContext, plan: BundlePlan, wanted: Bundle) {
  const apply = async <Entry extends { readonly name: string }>(
    { create, change, remove }: PlanPart,
    entries: readonly Entry[],
    store: Pick<DefinitionStore<Entry>, 'put' | 'remove'>,
  ) => {
    const put = new Set([...create, ...change.map(({ name }) => name)])
    for (const entry of entries) if (put.has(entry.name)) await store.put(caller, entry)
    for (const name of remove) await store.remove(caller, name)
  }
  await apply(plan.policies, wanted.policies, stores.policies)
  await apply(plan.toolsets, wanted.toolsets, stores.toolsets)
  await apply(plan.limits, wanted.limits, stores.limits)
}

async function findCategory(stores: Stores, workspace: string, name: string | null): Promise<string | null> {
  if (name === null) return null
  const category = await stores.categories.get(workspace, name)
  if (category !== undefined) return category.id
  throw new TooldexError('TOOL_INVALID', `There is no category '${name}'.`, { hint: 'Add it to the categories.' })
}

type IdOf = (name: string | null) => Promise<string | null>

async function createTools(
  stores: Stores,
  { caller, signal }: OperationContext,
  tools: readonly BundleTool[],
  idOf: IdOf,
): Promise<void> {
  const ids = new Map<string | null, string | null>()
  for (const category of new Set(tools.map((tool) => tool.category))) ids.set(category, await idOf(category))
  const drafts: NewTool[] = []
  const rest = yieldTurns(signal)
  for (const tool of tools) {
    const content = bundleToolContent(tool, ids.get(tool.category) ?? null)
    drafts.push({ content, status: tool.status ?? 'DRAFT', changelog: tool.changelog ?? undefined })
    await rest()
  }
  await stores.tools.createMany(caller, drafts)
}

async function changeTool(
  stores: Stores,
  { caller }: OperationContext,
  tool: BundleTool,
  { fields, idOf, policies }: { fields: readonly string[]; idOf: IdOf; policies: readonly BundlePolicy[] },
): Promise<void> {
  const content = bundleToolContent(tool, await idOf(tool.category))
  const changelog = tool.changelog ?? undefined
  const make = (current: RegisteredTool) => {
    refuseWithoutProposal({ policies, current, next: content })
    return content
  }
  const { tool: now } = await stores.tools.change(caller, tool.name, make, { changelog })
  if (!fields.includes('status') || tool.status === undefined) return
  const steps = findStatusSteps(now.status, tool.status)
  if (steps === undefined)
    throw new TooldexError('ILLEGAL_STEP', `${tool.name} is ${now.status} and cannot become ${tool.status}.`)
  for (const step of steps) await stores.tools.transition(caller, tool.name, step)
}
