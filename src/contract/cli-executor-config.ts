import * as z from 'zod'
import { ArgDef, type CliConfig, ToolDef } from './cli-config.ts'

/** The executor config of a registered tool of type `cli`: its command and the settings of its original config. */
export const CliExecutorConfig = z.strictObject({
  /** The program as written in the config: split into argv and expanded at run time. */
  baseCommand: z.string().min(1),
  ...ToolDef.pick({ command: true, args: true, timeout: true, endOfOptions: true, inheritEnv: true }).shape,
  ...ToolDef.pick({ isolation: true, network: true, root: true }).shape,
  globalArgs: z.array(ArgDef).default([]),
  env: z.record(z.string(), z.string()).default({}),
  workingDir: z.string().nullable().default(null),
  timeoutMs: z.int().min(1).max(3_600_000).optional(),
  /** The label of the workers that may run it; any worker where absent. */
  worker: z.string().min(1).max(64).optional(),
  limits: z.record(z.string(), z.int().min(1)).optional(),
})
export type CliExecutorConfig = z.infer<typeof CliExecutorConfig>

/** The executor config of one tool of a config, without fields that have their default. */
export function toCliExecutorConfig(config: CliConfig, tool: ToolDef): Record<string, unknown> {
  const { command, args, timeout } = tool
  const endOfOptions = tool.endOfOptions ?? (config.endOfOptions || undefined)
  const inheritEnv = tool.inheritEnv ?? config.inheritEnv
  const isolation = tool.isolation ?? config.isolation
  const network = tool.network ?? config.network
  const root = tool.root ?? config.root
  return {
    baseCommand: config.command,
    ...(command === '' ? {} : { command }),
    ...(args.length === 0 ? {} : { args: args.map(omitDefaults) }),
    ...(config.globalArgs.length === 0 ? {} : { globalArgs: config.globalArgs.map(omitDefaults) }),
    ...(Object.keys(config.env).length === 0 ? {} : { env: config.env }),
    ...(config.workingDir == null ? {} : { workingDir: config.workingDir }),
    ...(timeout == null ? {} : { timeout }),
    ...(endOfOptions === undefined ? {} : { endOfOptions }),
    ...(inheritEnv === undefined ? {} : { inheritEnv }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(network === undefined ? {} : { network }),
    ...(root === undefined ? {} : { root }),
  }
}

function omitDefaults(arg: ArgDef): Record<string, unknown> {
  const isDefault = (key: string, value: unknown) =>
    value == null || (key === 'type' && value === 'string') || (key !== 'default' && (value === false || value === ''))
  return Object.fromEntries(Object.entries(arg).filter(([key, value]) => !isDefault(key, value)))
}
