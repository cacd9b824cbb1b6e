import {
  bigint,
  date,
  foreignKey,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  timestamp,
  varchar,
} from 'drizzle-orm/pg-core'
import type { McpServer } from '../contract/mcp-server.ts'
import type { SourceFailure, SourceManifest, SourceTrust } from '../contract/source.ts'
import { at, times, workspaceId } from './schema.ts'

const definition = () => json('definition').$type<Record<string, unknown>>().notNull()

/** Saved filters of tools, served at endpoints of their own. */
export const toolsets = pgTable(
  'toolsets',
  {
    workspaceId: workspaceId(),
    name: varchar('name', { length: 63 }).notNull(),
    definition: definition(),
    ...times,
  },
  (table) => [primaryKey({ name: 'toolsets_pk', columns: [table.workspaceId, table.name] })],
)

/** Rate limits and daily budgets. */
export const limits = pgTable(
  'limits',
  {
    workspaceId: workspaceId(),
    name: varchar('name', { length: 100 }).notNull(),
    definition: definition(),
    ...times,
  },
  (table) => [primaryKey({ name: 'limits_pk', columns: [table.workspaceId, table.name] })],
)

/** The use of a limit by one subject on its latest day; counters of an earlier day count as zero. */
export const limitUsage = pgTable(
  'limit_usage',
  {
    workspaceId: workspaceId(),
    limitName: varchar('limit_name', { length: 100 }).notNull(),
    /** The caller, tool and toolset that are counted separately; empty where all are counted together. */
    subject: text('subject').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    calls: integer('calls').notNull().default(0),
    ms: bigint('ms', { mode: 'number' }).notNull().default(0),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    tokens: bigint('tokens', { mode: 'number' }).notNull().default(0),
    /** The time at which the calls so far would have ended at exactly the allowed rate. */
    rateUntil: timestamp('rate_until', { withTimezone: true, mode: 'date' }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ name: 'limit_usage_pk', columns: [table.workspaceId, table.limitName, table.subject] })],
)

/** Whole MCP servers as sources of tools. */
export const sources = pgTable(
  'sources',
  {
    workspaceId: workspaceId(),
    name: varchar('name', { length: 63 }).notNull(),
    server: json('server').$type<McpServer>().notNull(),
    trust: varchar('trust', { length: 10 }).$type<SourceTrust>().notNull(),
    approvedHash: text('approved_hash'),
    /** The definitions in use. */
    manifest: json('manifest').$type<SourceManifest>(),
    /** The last read definitions, where they differ from those in use. */
    seen: json('seen').$type<SourceManifest>(),
    refused: json('refused').$type<Record<string, string>>().notNull().default({}),
    readAt: at('read_at'),
    waiting: integer('waiting').notNull().default(0),
    leftOut: integer('left_out'),
    revision: integer('revision').notNull().default(1),
    lastFailure: json('last_failure').$type<SourceFailure>(),
    lastSuccessAt: at('last_success_at'),
    /** The encrypted registration of the OAuth client. */
    oauthClient: text('oauth_client'),
    createdBy: text('created_by'),
    ...times,
  },
  (table) => [primaryKey({ name: 'sources_pk', columns: [table.workspaceId, table.name] })],
)

/** The sign-ins at servers of sources: one that all callers share, whose caller is empty, or one of each caller. */
export const sourceSignIns = pgTable(
  'source_sign_ins',
  {
    workspaceId: workspaceId(),
    source: varchar('source', { length: 63 }).notNull(),
    caller: text('caller').notNull(),
    /** The encrypted tokens; null where the sign-in has ended. */
    sealed: text('sealed'),
    issuer: text('issuer').notNull(),
    scope: text('scope'),
    failure: text('failure'),
    revision: integer('revision').notNull().default(1),
    refreshingUntil: at('refreshing_until'),
    signedInAt: at('signed_in_at').notNull().defaultNow(),
    ...times,
  },
  (table) => [
    primaryKey({ name: 'source_sign_ins_pk', columns: [table.workspaceId, table.source, table.caller] }),
    foreignKey({
      name: 'source_sign_ins_source',
      columns: [table.workspaceId, table.source],
      foreignColumns: [sources.workspaceId, sources.name],
    }).onDelete('cascade'),
  ],
)
