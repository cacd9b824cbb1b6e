import * as z from 'zod'
import { LimitsConfig } from './sandbox-limits.ts'

/** What every tool that is a process may say about how it is kept apart. */
export const isolationFields = {
  /**
   * `isolated` or `confined`; or `limited`, which an admin must have allowed and which is no sandbox. The best there is
   * where absent.
   */
  isolation: z.enum(['isolated', 'confined', 'limited']).optional(),
  limits: LimitsConfig.optional(),
  /** Whether it may use the network; an admin must have allowed it. */
  network: z.boolean().optional(),
}

const noNul = /^[^\0]*$/
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name')

/** Variables that a tool sets; `secret:NAME`, `env:NAME` and `file:PATH` stand for what is there when it runs. */
export const EnvConfig = z.record(variableName, z.string().regex(noNul, 'must not have the character U+0000'))
