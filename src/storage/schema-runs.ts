import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
  varchar,
} from 'drizzle-orm/pg-core'
import { at, times, tools, workspaceId } from './schema.ts'

export const executionStatus = pgEnum('execution_status', [
  'PENDING',
  'RUNNING',
  'SUCCESS',
  'FAILED',
  'TIMEOUT',
  'CANCELLED',
])

/** One row for each run; it outlives its tool. The rows that wait for a worker are the queue. */
export const toolExecutions = pgTable(
  'tool_executions',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: workspaceId(),
    toolId: uuid('tool_id').references(() => tools.id, { onDelete: 'set null' }),
    toolName: text('tool_name').notNull(),
    /** Null for a tool of a config. */
    version: integer('version'),
    legacyVersion: text('legacy_version'),
    status: executionStatus('status').notNull().default('PENDING'),
    inputData: json('input_data').notNull(),
    outputData: json('output_data'),
    errorMessage: text('error_message'),
    errorCode: text('error_code'),
    startedAt: at('started_at'),
    completedAt: at('completed_at'),
    durationMs: integer('duration_ms'),
    callerId: text('caller_id'),
    /** A label that the caller chose; `caller_id` is the authenticated caller. */
    callerLabel: text('caller_label'),
    /** The groups of the caller. */
    callerGroups: jsonb('caller_groups').$type<string[]>(),
    /** The toolsets that restricted the call. */
    toolsets: jsonb('toolsets').$type<string[]>(),
    /** The limits that the call counts toward, as pairs of limit and subject. */
    limits: jsonb('limits').$type<[limit: string, subject: string][]>(),
    traceId: text('trace_id'),
    /** The trace context for the worker that takes it from the queue. */
    traceparent: varchar('traceparent', { length: 55 }),
    isolation: varchar('isolation', { length: 20 }),
    /** The Python environment. */
    environment: varchar('environment', { length: 200 }),
    exitCode: integer('exit_code'),
    stdout: text('stdout').notNull().default(''),
    stderr: text('stderr').notNull().default(''),
    truncated: boolean('truncated').notNull().default(false),
    /** Signs that the result tries to direct its reader. */
    suspicious: jsonb('suspicious').$type<string[]>(),
    timeoutMs: integer('timeout_ms'),
    /** The reason for PENDING. */
    reason: varchar('reason', { length: 20 }),
    /** The label of the workers that may take it; null where the process that received the call runs it. */
    label: varchar('label', { length: 64 }),
    /** Its position in the queue: callers take turns. */
    turn: bigint('turn', { mode: 'number' }),
    /** The process that runs it now; its lease is in `workers`. */
    worker: text('worker'),
    /** The latest end of the attempt; counts only where `workers` has no row of the process. */
    leaseUntil: at('lease_until'),
    attempt: integer('attempt').notNull().default(0),
    maxAttempts: integer('max_attempts').notNull().default(1),
    cancelRequested: boolean('cancel_requested').notNull().default(false),
    /** The end of waiting. */
    expiresAt: at('expires_at'),
    idempotencyKey: varchar('idempotency_key', { length: 200 }),
    bodyHash: text('body_hash'),
    /** The tool itself, only where no stored version contains it. */
    definition: json('definition'),
    /** `replay`; null for calls. */
    purpose: varchar('purpose', { length: 20 }),
    /** The run of the program that made the call; it may be deleted first. */
    parentId: uuid('parent_id'),
    decidedBy: text('decided_by'),
    ...times,
  },
  (table) => [
    index('tool_executions_newest').on(table.workspaceId, table.createdAt, table.id),
    index('tool_executions_of_tool').on(table.toolId, table.createdAt),
    index('tool_executions_of_tool_name')
      .on(table.workspaceId, table.toolName, table.createdAt, table.id)
      .concurrently(),
    index('tool_executions_by_status').on(table.workspaceId, table.status, table.createdAt),
    index('tool_executions_of_caller').on(table.workspaceId, table.callerId, table.createdAt),
    index('tool_executions_of_caller_label')
      .on(table.workspaceId, table.callerLabel, table.createdAt)
      .concurrently()
      .where(sql`${table.callerLabel} is not null`),
    index('tool_executions_of_trace').on(table.workspaceId, table.traceId).where(sql`${table.traceId} is not null`),
    index('tool_executions_of_parent')
      .on(table.parentId, table.createdAt)
      .concurrently()
      .where(sql`${table.parentId} is not null`),
    index('tool_executions_queue')
      .on(table.label, table.turn, table.createdAt)
      .where(sql`${table.label} is not null and ${table.worker} is null and ${table.status} in ('PENDING', 'RUNNING')`),
    index('tool_executions_waiting_of_caller')
      .on(table.workspaceId, table.callerId, table.turn)
      .where(sql`${table.status} = 'PENDING'`),
    index('tool_executions_waiting_of_tool')
      .on(table.workspaceId, table.toolName)
      .where(sql`${table.status} = 'PENDING'`),
    index('tool_executions_of_worker')
      .on(table.worker)
      .concurrently()
      .where(sql`${table.status} in ('PENDING', 'RUNNING')`),
    index('tool_executions_lease').on(table.leaseUntil).where(sql`${table.status} in ('PENDING', 'RUNNING')`),
    // A key is free again where its run never started.
    uniqueIndex('tool_executions_key')
      .on(table.workspaceId, table.callerId, table.idempotencyKey)
      .where(sql`${table.idempotencyKey} is not null and not (${table.status} = 'CANCELLED' and ${table.attempt} = 0)`),
  ],
)

/** One row for each process that runs tools. Its heartbeat renews the lease of all its runs at once. */
export const workers = pgTable('workers', {
  name: text('name').primaryKey(),
  kind: varchar('kind', { length: 20 }).notNull(),
  version: varchar('version', { length: 100 }).notNull(),
  /** Its capabilities: executors, labels of queued runs, number of concurrent runs. */
  executors: jsonb('executors').notNull(),
  labels: jsonb('labels').notNull(),
  slots: integer('slots').notNull(),
  takesWork: boolean('takes_work').notNull(),
  draining: boolean('draining').notNull().default(false),
  startedAt: at('started_at').notNull().defaultNow(),
  seenAt: at('seen_at').notNull().defaultNow(),
  leaseUntil: at('lease_until').notNull(),
})

/** Output that is published during a run; deleted soon after its end, because the run then contains it. */
export const executionEvents = pgTable(
  'execution_events',
  {
    executionId: uuid('execution_id')
      .notNull()
      .references(() => toolExecutions.id, { onDelete: 'cascade' }),
    attempt: integer('attempt').notNull(),
    seq: integer('seq').notNull(),
    stream: varchar('stream', { length: 6 }).notNull(),
    text: text('text').notNull(),
  },
  (table) => [primaryKey({ name: 'execution_events_pk', columns: [table.executionId, table.attempt, table.seq] })],
)

/** Encrypted secrets by name. */
export const secrets = pgTable(
  'secrets',
  {
    workspaceId: workspaceId(),
    name: varchar('name', { length: 100 }).notNull(),
    sealed: text('sealed').notNull(),
    createdBy: text('created_by'),
    ...times,
  },
  (table) => [primaryKey({ name: 'secrets_pk', columns: [table.workspaceId, table.name] })],
)

/** Outputs that are too large to return whole. */
export const executionResults = pgTable(
  'execution_results',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    executionId: uuid('execution_id')
      .notNull()
      .references(() => toolExecutions.id, { onDelete: 'cascade' }),
    callerId: text('caller_id'),
    mediaType: text('media_type').notNull(),
    bytes: integer('bytes').notNull(),
    content: text('content').notNull(),
    expiresAt: at('expires_at').notNull(),
    createdAt: times.createdAt,
  },
  (table) => [
    index('execution_results_age').on(table.expiresAt),
    uniqueIndex('execution_results_of_run').on(table.executionId),
  ],
)
