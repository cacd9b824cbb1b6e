import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  index,
  integer,
  json,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
  varchar,
} from 'drizzle-orm/pg-core'
import type { ReplayReport } from '../contract/tool-diff.ts'

// One schema for the embedded engine and for PostgreSQL; `npm run migrations` turns a change of it into a migration.

export const toolStatus = pgEnum('tool_status', ['DRAFT', 'ACTIVE', 'DEPRECATED', 'DISABLED'])
export const proposalStatus = pgEnum('proposal_status', ['OPEN', 'ACCEPTED', 'REFUSED'])

export const at = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })
export const times = {
  createdAt: at('created_at').notNull().defaultNow(),
  updatedAt: at('updated_at').notNull().defaultNow(),
}
// JSON of users is kept as json, because jsonb sorts the keys of objects; jsonb is for arrays of strings.
const object = (name: string) => json(name).$type<Record<string, unknown>>()
const objects = (name: string) => json(name).$type<unknown[]>().notNull().default([])
const strings = (name: string) => jsonb(name).$type<unknown[]>().notNull().default([])

/** `changes` increases with every change of the offered tools. */
export const workspaces = pgTable('workspaces', {
  id: varchar('id', { length: 64 }).primaryKey(),
  changes: bigint('changes', { mode: 'number' }).notNull().default(0),
  createdAt: times.createdAt,
})

export const workspaceId = () =>
  varchar('workspace_id', { length: 64 })
    .notNull()
    .default('default')
    .references(() => workspaces.id)

export const toolCategories = pgTable(
  'tool_categories',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: workspaceId(),
    name: varchar('name', { length: 100 }).notNull(),
    description: text('description'),
    parentId: uuid('parent_id').references((): AnyPgColumn => toolCategories.id),
    ...times,
  },
  (table) => [
    unique('tool_categories_name').on(table.workspaceId, table.name),
    index('tool_categories_parent').on(table.parentId),
    check('tool_categories_not_its_parent', sql`${table.parentId} <> ${table.id}`),
  ],
)

/** The versioned columns that the first data model did not have. */
const addedColumns = {
  namespace: varchar('namespace', { length: 128 }),
  summary: text('summary'),
  exampleRequests: strings('example_requests'),
  examples: objects('examples'),
  notes: text('notes'),
  externalRefs: strings('external_refs'),
  annotations: object('annotations').notNull().default({}),
  icons: objects('icons'),
  _meta: object('meta').notNull().default({}),
  inputModes: strings('input_modes'),
  outputModes: strings('output_modes'),
  securitySummary: text('security_summary'),
}

export const tools = pgTable(
  'tools',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: workspaceId(),
    name: varchar('name', { length: 100 }).notNull(),
    displayName: varchar('display_name', { length: 200 }).notNull(),
    description: text('description').notNull(),
    status: toolStatus('status').notNull().default('DRAFT'),
    categoryId: uuid('category_id').references(() => toolCategories.id),
    tags: strings('tags'),
    inputSchema: object('input_schema').notNull(),
    outputSchema: object('output_schema').notNull().default({}),
    scriptContent: text('script_content'),
    executorType: varchar('executor_type', { length: 20 }).notNull().default('python'),
    executorConfig: object('executor_config').notNull().default({}),
    version: integer('version').notNull().default(1),
    ...addedColumns,
    ...times,
  },
  (table) => [
    unique('tools_name').on(table.workspaceId, table.name),
    check('tools_name_is_snake_case', sql`${table.name} ~ '^[a-z0-9_]+$'`),
    check('tools_version_counts', sql`${table.version} >= 1`),
    index('idx_tools_status').on(table.workspaceId, table.status).where(sql`${table.status} = 'ACTIVE'`),
    index('idx_tools_name_trgm').using('gin', sql`${table.name} gin_trgm_ops`),
    index('idx_tools_display_name_trgm').using('gin', sql`${table.displayName} gin_trgm_ops`),
    index('idx_tools_description_trgm').using('gin', sql`${table.description} gin_trgm_ops`),
    index('tools_tags').using('gin', table.tags),
    index('tools_category').on(table.categoryId),
    index('tools_newest').on(table.workspaceId, table.updatedAt, table.id),
  ],
)

const snapshot = {
  name: varchar('name', { length: 100 }).notNull(),
  displayName: varchar('display_name', { length: 200 }).notNull(),
  description: text('description').notNull(),
  categoryId: uuid('category_id'),
  tags: strings('tags'),
  inputSchema: object('input_schema').notNull(),
  outputSchema: object('output_schema').notNull().default({}),
  executorType: varchar('executor_type', { length: 20 }).notNull(),
  executorConfig: object('executor_config').notNull().default({}),
  scriptContent: text('script_content'),
  ...addedColumns,
}

export const toolVersions = pgTable(
  'tool_versions',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    toolId: uuid('tool_id')
      .notNull()
      .references(() => tools.id, { onDelete: 'cascade' }),
    version: integer('version').notNull(),
    changelog: text('changelog'),
    isLatest: boolean('is_latest').notNull().default(true),
    legacyVersion: text('legacy_version'),
    createdBy: text('created_by'),
    ...snapshot,
    ...times,
  },
  (table) => [
    unique('tool_versions_number').on(table.toolId, table.version),
    uniqueIndex('tool_versions_one_latest').on(table.toolId).where(sql`${table.isLatest}`),
    check('tool_versions_count', sql`${table.version} >= 1`),
  ],
)

/** Proposals: an accepted one becomes the next version. */
export const toolProposals = pgTable(
  'tool_proposals',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: workspaceId(),
    toolId: uuid('tool_id')
      .notNull()
      .references(() => tools.id, { onDelete: 'cascade' }),
    status: proposalStatus('status').notNull().default('OPEN'),
    /** The version it was made from. */
    baseVersion: integer('base_version').notNull(),
    change: object('change').notNull(),
    reason: text('reason'),
    changelog: text('changelog'),
    createdBy: text('created_by'),
    decidedBy: text('decided_by'),
    decidedAt: at('decided_at'),
    decision: text('decision'),
    acceptedVersion: integer('accepted_version'),
    /** The result of the last replay. */
    replay: json('replay').$type<ReplayReport>(),
    ...times,
  },
  (table) => [index('tool_proposals_of_tool').on(table.toolId, table.createdAt)],
)

/** Keys are stored as hashes; the prefix identifies them in lists. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: workspaceId(),
    name: varchar('name', { length: 100 }).notNull(),
    prefix: varchar('prefix', { length: 16 }).notNull(),
    hash: text('hash').notNull(),
    scopes: jsonb('scopes').$type<string[]>().notNull(),
    /** The toolsets that the key is restricted to. */
    toolsets: jsonb('toolsets').$type<string[]>(),
    codeMode: boolean('code_mode').notNull().default(false),
    createdAt: times.createdAt,
    createdBy: text('created_by'),
    expiresAt: at('expires_at'),
    revokedAt: at('revoked_at'),
    lastUsedAt: at('last_used_at'),
  },
  (table) => [unique('api_keys_hash').on(table.hash), unique('api_keys_name').on(table.workspaceId, table.name)],
)

/** The audit log; a row without a sequence was written outside the chain. */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    workspaceId: workspaceId(),
    at: at('at').notNull().defaultNow(),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    subject: text('subject').notNull(),
    before: json('before'),
    after: json('after'),
    requestId: text('request_id'),
    sequence: bigint('sequence', { mode: 'number' }),
    previousHash: text('previous_hash'),
    hash: text('hash'),
  },
  (table) => [index('audit_entries_newest').on(table.workspaceId, table.id)],
)

/** The last row of the audit log of a workspace. */
export const auditHeads = pgTable('audit_heads', {
  workspaceId: workspaceId().primaryKey(),
  sequence: bigint('sequence', { mode: 'number' }).notNull(),
  hash: text('hash').notNull(),
})

/** The responses to requests with an Idempotency-Key, so that a repeated request changes nothing. */
export const idempotentAnswers = pgTable(
  'idempotent_answers',
  {
    workspaceId: workspaceId(),
    keyId: text('key_id').notNull(),
    idempotencyKey: varchar('idempotency_key', { length: 200 }).notNull(),
    bodyHash: text('body_hash').notNull(),
    status: integer('status'),
    body: json('body'),
    createdAt: times.createdAt,
  },
  (table) => [
    primaryKey({ name: 'idempotent_answers_pk', columns: [table.workspaceId, table.keyId, table.idempotencyKey] }),
    index('idempotent_answers_age').on(table.createdAt),
  ],
)

export const policies = pgTable(
  'policies',
  {
    workspaceId: workspaceId(),
    name: varchar('name', { length: 100 }).notNull(),
    policy: object('policy').notNull(),
    ...times,
  },
  (table) => [primaryKey({ name: 'policies_pk', columns: [table.workspaceId, table.name] })],
)

/** Queries that were followed by a successful call. A query can be too long for an index entry, so its hash is the key. */
export const learnedQueries = pgTable(
  'learned_queries',
  {
    workspaceId: workspaceId(),
    queryHash: varchar('query_hash', { length: 64 }).notNull(),
    toolId: varchar('tool_id', { length: 300 }).notNull(),
    query: text('query').notNull(),
    successes: integer('successes').notNull().default(1),
    ...times,
  },
  (table) => [
    primaryKey({ name: 'learned_queries_pk', columns: [table.workspaceId, table.queryHash, table.toolId] }),
    index('learned_queries_newest').on(table.workspaceId, table.updatedAt),
  ],
)

/** Values of the installation, such as the secret that signs cursors. */
export const settings = pgTable('settings', {
  name: varchar('name', { length: 100 }).primaryKey(),
  value: jsonb('value').notNull(),
})
