import * as z from 'zod'
import { defineConfigCheck, TimeoutMs } from '../read-config.ts'

/** How a Python tool runs. */
export const PythonConfig = z.strictObject({
  /** The name of a prepared environment. */
  environment: z.string().min(1).max(100).optional(),
  /** Whether the script may use the network. */
  network: z.boolean().optional(),
  timeoutMs: TimeoutMs.optional(),
})
export type PythonConfig = z.infer<typeof PythonConfig>

/** What is wrong with the config of a Python tool. */
export const checkPythonConfig = defineConfigCheck(PythonConfig, () => [])
