import * as z from 'zod'

/** How a run can end. */
export const RunStatus = z.enum(['SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED'])
export type RunStatus = z.infer<typeof RunStatus>

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
  /** Why it did not succeed, in a code of the error table and in words. */
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
})
export type RunOutcome = z.infer<typeof RunOutcome>

/** What would run: shown by a dry run, used by the real one. */
export const CommandPlan = z.object({
  argv: z.array(z.string()).min(1),
  cwd: z.string().nullable(),
  /** Names only: values may be secrets. */
  env: z.array(z.string()),
  stdin: z.boolean(),
  timeoutMs: z.int(),
})
export type CommandPlan = z.infer<typeof CommandPlan>
