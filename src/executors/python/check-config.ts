import * as z from 'zod'
import { TimeoutMs } from '../../contract/executor-kinds.ts'
import { defineConfigCheck, WorkerLabel } from '../read-config.ts'
import { EnvConfig, isolationFields } from '../sandbox/sandbox-config.ts'
import { Dependencies } from './packages.ts'

/** The name of a Python environment. */
export const EnvironmentName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/,
    'must contain only letters, digits, underscores, dots and hyphens, and begin with a letter or digit',
  )

/** The config of a Python tool. */
export const PythonConfig = z.strictObject({
  environment: EnvironmentName.optional(),
  /** Packages that are installed once per host and shared by tools with the same list. */
  dependencies: Dependencies.optional(),
  env: EnvConfig.optional(),
  ...isolationFields,
  timeoutMs: TimeoutMs.optional(),
  worker: WorkerLabel.optional(),
})
export type PythonConfig = z.infer<typeof PythonConfig>

/** Validates the config of a Python tool. */
export const checkPythonConfig = defineConfigCheck(PythonConfig, ({ environment, dependencies }) =>
  environment === undefined || dependencies === undefined
    ? []
    : [{ path: ['dependencies'], message: 'cannot be combined with environment', hint: 'remove one of them' }],
)
