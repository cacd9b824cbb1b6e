import type { Caller, Page, PageQuery } from './stores.ts'

/** One entry of the audit log. */
export interface AuditEntry {
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
  readonly requestId: string | null
  /** The number of the row in its workspace; null outside the chain. */
  readonly sequence: number | null
  readonly hash: string | null
}

export interface AuditStore {
  /** Records an action that changes no stored data. */
  add(caller: Caller, entry: Pick<AuditEntry, 'action' | 'subject'> & { readonly after?: unknown }): Promise<void>
  list(workspace: string, query: PageQuery & { readonly subject?: string | undefined }): Promise<Page<AuditEntry>>
  /** The last row of the chain of a workspace. */
  head(workspace: string): Promise<ChainHead | undefined>
  /** The rows of a workspace after a row number, oldest first, in pages. */
  chain(workspace: string, after?: number): AsyncIterable<readonly HashedRow[]>
}

/** A row of the audit log as its hash covers it; `before` and `after` are JSON texts, because a parsed number may lose digits. */
export interface ChainRow {
  readonly workspace: string
  /** The number of the row in its workspace, from 1 without gaps; null for a row that was written outside the chain. */
  readonly sequence: number | null
  readonly previousHash: string | null
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly before: string | null
  readonly after: string | null
  readonly requestId: string | null
}

/** A row with its stored hash. */
export type HashedRow = ChainRow & { readonly hash: string | null }

/** The last row of a chain. */
export interface ChainHead {
  readonly sequence: number
  readonly hash: string
}
