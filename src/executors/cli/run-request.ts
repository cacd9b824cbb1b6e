import type { ArgValues } from '../../contract/arguments.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'

/** One call of a command, its arguments read as the config declares them. */
export interface RunRequest {
  readonly tool: ResolvedTool
  readonly values: ArgValues
  /** The values of the config's global arguments. */
  readonly globals: ArgValues
}
