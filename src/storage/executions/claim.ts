import { and, eq, inArray, sql } from 'drizzle-orm'
import type { ClaimedExecution } from '../../contract/execution.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import { Policy, rulesFor } from '../../contract/policy.ts'
import { fromRegistry } from '../../contract/runnable-tool.ts'
import type { Db } from '../database.ts'
import { toTool, toVersion } from '../rows.ts'
import { rowsOf } from '../rows-of.ts'
import { policies, tools, toolVersions } from '../schema.ts'
import { toolExecutions } from '../schema-runs.ts'
import { after } from './create.ts'
import { toExecution } from './rows.ts'

/** Takes runs from the queue: each is given to one worker only, whoever else looks at the same moment. */
export async function claimExecutions(
  db: Db,
  worker: string,
  { limit, labels, leaseMs }: { limit: number; labels: readonly string[]; leaseMs: number },
): Promise<readonly ClaimedExecution[]> {
  const which = sql.join(
    labels.map((label) => sql`${label}`),
    sql`, `,
  )
  const taken = rowsOf<{ id: string }>(
    await db.execute(sql`
      with picked as materialized (
        select id from tool_executions
        where label in (${which}) and worker is null and status in ('PENDING', 'RUNNING')
          and coalesce(reason, 'queued') = 'queued' and not cancel_requested
        order by turn, created_at limit ${limit}::int for update skip locked
      )
      update tool_executions run set status = 'RUNNING', worker = ${worker}, attempt = run.attempt + 1,
        started_at = coalesce(run.started_at, now()), lease_until = ${after(leaseMs)}, updated_at = now()
      from picked where run.id = picked.id returning run.id`),
  )
  if (taken.length === 0) return []
  const ids = taken.map(({ id }) => id)
  const rows = await db
    .select({ run: toolExecutions, tool: tools, version: toolVersions })
    .from(toolExecutions)
    .leftJoin(tools, eq(tools.id, toolExecutions.toolId))
    .leftJoin(
      toolVersions,
      and(eq(toolVersions.toolId, toolExecutions.toolId), eq(toolVersions.version, toolExecutions.version)),
    )
    .where(inArray(toolExecutions.id, ids))
    .orderBy(toolExecutions.turn, toolExecutions.createdAt)
  const rules = await policiesOf(db, [...new Set(rows.map(({ run }) => run.workspaceId))])
  return rows.map((row) => toClaimed(row, rules.get(row.run.workspaceId) ?? []))
}

interface Row {
  readonly run: typeof toolExecutions.$inferSelect
  readonly tool: typeof tools.$inferSelect | null
  readonly version: typeof toolVersions.$inferSelect | null
}

function toClaimed({ run, tool, version }: Row, rules: readonly Policy[]): ClaimedExecution {
  const { workspaceId: workspace, traceparent } = run
  const claimed = { execution: toExecution(run), workspace, traceparent, refusal: undefined }
  if (run.definition !== null) return { ...claimed, tool: run.definition as RunnableTool }
  if (tool === null || version === null) return refused(claimed, 'TOOL_NOT_FOUND', 'was deleted before it could run')
  if (run.purpose === null && tool.status !== 'ACTIVE' && tool.status !== 'DEPRECATED')
    return refused(claimed, 'TOOL_DISABLED', `is ${tool.status} now`)
  const content = { ...toTool(tool), ...toVersion(version).content, version: version.version }
  const binding = rulesFor(rules, tool.name, run.callerId)
  if (binding === undefined) return refused(claimed, 'TOOL_NOT_FOUND', 'is hidden by a policy now')
  return { ...claimed, tool: fromRegistry(content, binding) }
}

const refused = (
  claimed: Pick<ClaimedExecution, 'execution' | 'workspace' | 'traceparent'>,
  code: string,
  why: string,
): ClaimedExecution => ({
  ...claimed,
  tool: undefined,
  refusal: { code, message: `${claimed.execution.toolName} ${why}.` },
})

async function policiesOf(db: Db, workspaces: readonly string[]): Promise<ReadonlyMap<string, readonly Policy[]>> {
  const rows = await db
    .select()
    .from(policies)
    .where(inArray(policies.workspaceId, [...workspaces]))
  const byWorkspace = new Map<string, Policy[]>()
  for (const { workspaceId, policy } of rows)
    byWorkspace.set(workspaceId, [...(byWorkspace.get(workspaceId) ?? []), Policy.parse(policy)])
  return byWorkspace
}
