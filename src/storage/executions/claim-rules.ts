import { inArray } from 'drizzle-orm'
import type { Policy, ToolRule } from '../../contract/policy.ts'
import { Toolset } from '../../contract/toolset.ts'
import { toolRulesFor } from '../../rules/policy-rules.ts'
import { parseStoredPolicy } from '../../rules/stored-policy.ts'
import { type FilteredTool, resolveToolset, toolsetRules } from '../../rules/toolset-rules.ts'
import type { Db } from '../database.ts'
import { toCategory } from '../rows.ts'
import { policies, toolCategories } from '../schema.ts'
import { toolsets } from '../schema-access.ts'
import type { toolExecutions } from '../schema-runs.ts'

type Run = Pick<typeof toolExecutions.$inferSelect, 'workspaceId' | 'callerId' | 'callerGroups' | 'toolsets'>

/** A tool as policies and toolsets compare it, with its category by id; without tags, those of a toolset are not compared. */
type RuledTool = Omit<FilteredTool, 'category'> & { readonly categoryId?: string | null }

/** Returns the present rules for a tool and the caller of a run; undefined where a policy or a toolset hides it. */
export type RunRules = (run: Run, tool: RuledTool) => readonly ToolRule[] | undefined

/** Reads the rules that apply to runs; toolsets only where one of the runs has any. */
export async function readRunRules(db: Db, runs: readonly Run[]): Promise<RunRules> {
  const workspaces = [...new Set(runs.map(({ workspaceId }) => workspaceId))]
  const stored = await policiesOf(db, workspaces)
  const hasToolsets = runs.some((run) => run.toolsets !== null)
  const inToolsets = hasToolsets ? await toolsetsOf(db, workspaces) : () => []
  return (run, tool) => {
    const caller = { actor: run.callerId, groups: run.callerGroups ?? undefined }
    const rules = toolRulesFor(stored.get(run.workspaceId) ?? [], tool.name, caller)
    const more = run.toolsets === null ? [] : inToolsets(run, tool)
    return rules === undefined || more === undefined ? undefined : [...rules, ...more]
  }
}

async function toolsetsOf(db: Db, workspaces: readonly string[]): Promise<RunRules> {
  const rows = await db
    .select()
    .from(toolsets)
    .where(inArray(toolsets.workspaceId, [...workspaces]))
  const all = await db
    .select()
    .from(toolCategories)
    .where(inArray(toolCategories.workspaceId, [...workspaces]))
  return ({ workspaceId, callerId, callerGroups, toolsets: names }, { categoryId, ...tool }) => {
    const categories = all.filter((row) => row.workspaceId === workspaceId).map(toCategory)
    const resolved = rows.flatMap(({ name, definition, ...row }) => {
      const { data } = Toolset.safeParse({ ...definition, name })
      if (row.workspaceId !== workspaceId || names?.includes(name) !== true || data === undefined) return []
      const known = resolveToolset(data, categories)
      return [tool.tags === undefined ? { ...known, tagged: undefined, within: undefined } : known]
    })
    const category = categories.find(({ id }) => id === categoryId)?.name
    return toolsetRules(resolved, { ...tool, category }, { actor: callerId, groups: callerGroups ?? undefined })
  }
}

async function policiesOf(db: Db, workspaces: readonly string[]): Promise<ReadonlyMap<string, readonly Policy[]>> {
  const rows = await db
    .select()
    .from(policies)
    .where(inArray(policies.workspaceId, [...workspaces]))
  const byWorkspace = new Map<string, Policy[]>()
  for (const { workspaceId, name, policy } of rows)
    byWorkspace.set(workspaceId, [...(byWorkspace.get(workspaceId) ?? []), parseStoredPolicy(name, policy).policy])
  return byWorkspace
}
