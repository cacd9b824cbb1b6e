import type { ArgValues } from '../../contract/executor.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'

/** One call of a command, with its arguments converted as the config declares them. */
export interface RunRequest {
  readonly tool: ResolvedTool
  readonly values: ArgValues
  /** The values of the config's global arguments. */
  readonly globals: ArgValues
}
