import * as z from 'zod'
import { LimitsConfig } from './sandbox-limits.ts'

/** The isolation settings of every tool that runs as a process. */
export const isolationFields = {
  /**
   * `isolated` or `confined`; or `limited`, which is not a sandbox and which the operator must allow. The best available
   * level where absent.
   */
  isolation: z.enum(['isolated', 'confined', 'limited']).optional(),
  limits: LimitsConfig.optional(),
  /** Whether the tool needs network access, which the operator must allow. */
  network: z.boolean().optional(),
}

const noNul = /^[^\0]*$/
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a valid variable name')

/** Variables that a tool sets; `secret:NAME`, `env:NAME` and `file:PATH` are resolved when it runs. */
export const EnvConfig = z.record(variableName, z.string().regex(noNul, 'must not contain a NUL byte'))
