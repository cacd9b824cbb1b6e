import * as z from 'zod'
import { ExecutorType } from './registry.ts'

/** How a run can end. */
export const RunStatus = z.enum(['SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED'])
export type RunStatus = z.infer<typeof RunStatus>

/**
 * What stands between a run and the machine: namespaces of its own (`isolated`), a kernel policy on files, network and
 * signals (`confined`), limits only, which are no sandbox (`limited`), or no process at all (`none`).
 */
export const Isolation = z.enum(['isolated', 'confined', 'limited', 'none'])
export type Isolation = z.infer<typeof Isolation>

/** What a finished command left behind. */
export const CommandResult = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  durationMs: z.number(),
  truncated: z.boolean(),
})
export type CommandResult = z.infer<typeof CommandResult>

/** A run that reached its end: a tool that failed is a result, not an error. */
export const RunOutcome = z.object({
  status: RunStatus,
  result: CommandResult,
  /** What the tool returned, where that is something else than what it printed. */
  output: z.unknown().optional(),
  isolation: Isolation,
  /** The set of packages that it saw, and which state of it. */
  environment: z.string().optional(),
  /** Why it did not succeed, in a code of the error table and in words. */
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
})
export type RunOutcome = z.infer<typeof RunOutcome>

/** The error message of a command of which only the exit code is known. */
export const exitMessage = (exitCode: number | null): string => `Command failed with exit code ${exitCode}`

/** What would run: shown by a dry run, used by the real one. Secrets are masked. */
export const RunPlan = z.object({
  kind: ExecutorType,
  isolation: Isolation,
  timeoutMs: z.int(),
  /** The words of a command. */
  argv: z.array(z.string()).min(1).optional(),
  cwd: z.string().nullable().optional(),
  /** Names only: values may be secrets. */
  env: z.array(z.string()).optional(),
  stdin: z.boolean().optional(),
  /** The script that a run would be given. */
  script: z.object({ sha256: z.string(), bytes: z.int(), content: z.string() }).optional(),
  /** The set of packages that it would see. */
  environment: z.string().nullable().optional(),
  network: z.boolean().optional(),
  /** The folders of the machine that it would see, each with `:ro` or `:rw`. */
  folders: z.array(z.string()).optional(),
  /** What it may use. */
  limits: z.record(z.string(), z.number()).optional(),
  /** The request that would be sent. */
  request: z
    .object({
      method: z.string(),
      url: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string().nullable(),
    })
    .optional(),
  /** The tool of another server that would be called. */
  upstream: z.object({ server: z.string(), tool: z.string(), arguments: z.record(z.string(), z.unknown()) }).optional(),
})
export type RunPlan = z.infer<typeof RunPlan>

/** What was too large to be handed over whole: how it begins, and where the rest is. */
export const StoredResult = z.object({
  handle: z.guid(),
  bytes: z.int(),
  /** What it is: `application/json`, or `text/plain`. */
  mediaType: z.string(),
  expiresAt: z.iso.datetime(),
})
export type StoredResult = z.infer<typeof StoredResult>
