import { and, eq, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import { sameJson } from '../../base/json-values.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { record } from '../record.ts'
import { policies } from '../schema.ts'

/** Copies the rules of stored policies to the new name of a tool; they stay for the old name, in case another tool takes it. */
export async function renameInPolicies(db: Db, caller: Caller, from: string, to: string): Promise<void> {
  const { workspace } = caller
  const rows = await db.select().from(policies).where(eq(policies.workspaceId, workspace)).for('update')
  for (const { name, policy } of rows) {
    const tools = (policy.tools ?? {}) as Record<string, unknown>
    if (!Object.hasOwn(tools, from)) continue
    if (Object.hasOwn(tools, to)) {
      if (!sameJson(tools[from], tools[to])) throw differentRules(name, from, to)
      continue
    }
    const after = { ...policy, tools: { ...tools, [to]: tools[from] } }
    await db
      .update(policies)
      .set({ policy: after, updatedAt: sql`now()` })
      .where(and(eq(policies.workspaceId, workspace), eq(policies.name, name)))
    await record(db, caller, { action: 'policy.change', subject: `policy:${name}`, before: policy, after })
  }
}

const differentRules = (policy: string, from: string, to: string): TooldexError =>
  new TooldexError('IN_USE', `The policy ${policy} has different rules for ${from} and ${to}.`, {
    hint: 'Change the policy first: make the rules the same, or remove one.',
  })
