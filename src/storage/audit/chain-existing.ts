import { sql } from 'drizzle-orm'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { ChainHead } from '../../contract/audit.ts'
import { chainStart, hashRow } from '../../rules/audit-chain.ts'
import type { Db } from '../database.ts'
import { auditHeads } from '../schema.ts'
import { readRows } from './read-rows.ts'

/** Chains the rows that were written before there was a chain; part of the migration that adds it. */
export async function chainExisting(db: Db): Promise<void> {
  const heads = new Map<string, ChainHead>()
  const turn = yieldTurns()
  for await (const rows of readRows(db)) {
    const links = rows.map(({ id, ...row }) => {
      const { sequence: last, hash: previousHash } = heads.get(row.workspace) ?? { sequence: 0, hash: chainStart }
      const sequence = last + 1
      const hash = hashRow({ ...row, sequence, previousHash })
      heads.set(row.workspace, { sequence, hash })
      return { id, sequence, previousHash, hash }
    })
    await db.execute(sql`update audit_entries row
      set sequence = link.sequence, previous_hash = link."previousHash", hash = link.hash
      from json_to_recordset(${JSON.stringify(links)}::text::json)
        as link (id bigint, sequence bigint, "previousHash" text, hash text)
      where row.id = link.id`)
    await turn()
  }
  for (const [workspaceId, head] of heads) await db.insert(auditHeads).values({ workspaceId, ...head })
}
