import * as z from 'zod'
import type { TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { toMcpAnnotations } from './catalog.ts'

/** A scalar of YAML or JSON, as in an enum or a default. */
export const Scalar = z.union([z.string(), z.number(), z.boolean()])
export type Scalar = z.infer<typeof Scalar>

export const argTypes = ['string', 'integer', 'number', 'boolean', 'path', 'array'] as const

/** One argument of a tool: its type for the model, and its position on the command line. */
export const ArgDef = z.strictObject({
  name: z.string().min(1),
  type: z.enum(argTypes).default('string'),
  description: z.string().default(''),
  required: z.boolean().default(false),
  default: z.union([Scalar, z.array(Scalar), z.null()]).optional(),
  /** `--flag`, `-f`, or `key=` to join flag and value into one argv element. Where absent, derived from the name. */
  flag: z.string().min(1).nullish(),
  /** true for definition order, or a number to order by. */
  positional: z.union([z.boolean(), z.int().min(0)]).default(false),
  /** The value is the working directory. */
  cwd: z.boolean().default(false),
  /** The value is written to the standard input of the program. */
  stdin: z.boolean().default(false),
  enum: z.array(Scalar).nullish(),
  /** The argument is an array; its flag is repeated for each value. */
  repeat: z.boolean().default(false),
  /** The type of the array items. */
  items: z.enum(['string', 'integer', 'number', 'boolean', 'path']).optional(),
  /** For `type: path`: the folder that the value must stay in. */
  root: z.string().min(1).optional(),
})
export type ArgDef = z.infer<typeof ArgDef>

const flag = z.boolean().optional()
const hints = { readOnlyHint: flag, destructiveHint: flag, idempotentHint: flag, openWorldHint: flag }

/** The effects of a tool under their MCP names; the names without the suffix are read, too. */
const Annotations = z
  .strictObject({ ...hints, readOnly: flag, destructive: flag, idempotent: flag, openWorld: flag })
  .transform(toMcpAnnotations)
  .pipe(z.strictObject(hints))

/** The environment variables that a program inherits: all where absent, otherwise the listed ones. */
const InheritEnv = z.union([z.boolean(), z.array(z.string())])

/** The requirements of a command on its host; a server provides them only where the operator allows it. */
const hostSettings = {
  /** `isolated` or `confined` in a sandbox, `limited` without one; a server chooses the best sandbox where absent. */
  isolation: z.enum(['isolated', 'confined', 'limited']).optional(),
  /** Whether the command uses the network; on a server the operator must allow it. */
  network: z.boolean().optional(),
  /** The working directory, which its paths must stay in. */
  root: z.string().min(1).optional(),
}

/** One command of a program. */
export const ToolDef = z.strictObject({
  name: z.string().min(1),
  description: z.string(),
  command: z.string().default(''),
  args: z.array(ArgDef).default([]),
  /** Seconds; null or 0 means the default limit. */
  timeout: z.number().min(0).nullish(),
  category: z.string().nullish(),
  tags: z.array(z.string()).default([]),
  exampleRequests: z.array(z.string()).default([]),
  annotations: Annotations.optional(),
  endOfOptions: z.boolean().optional(),
  inheritEnv: InheritEnv.optional(),
  ...hostSettings,
})
export type ToolDef = z.infer<typeof ToolDef>

/** A YAML config: one command-line program and its tools. */
export const CliConfig = z.strictObject({
  name: z.string().min(1).default('climax'),
  description: z.string().default(''),
  command: z.string(),
  env: z.record(z.string(), z.string()).default({}),
  workingDir: z.string().nullish().default(null),
  category: z.string().nullish().default(null),
  tags: z.array(z.string()).default([]),
  globalArgs: z.array(ArgDef).default([]),
  tools: z.array(ToolDef),
  inheritEnv: InheritEnv.optional(),
  /** The program treats `--` as the end of its options. */
  endOfOptions: z.boolean().default(false),
  ...hostSettings,
})
export type CliConfig = z.infer<typeof CliConfig>

/** A config as a program passes it: fields with a default are optional. */
export type CliConfigInput = z.input<typeof CliConfig>

/** Whether an argument takes a list of values. */
export const isList = (arg: ArgDef): boolean => arg.repeat || arg.type === 'array'

/** The type of one value of an argument. */
export const itemType = (arg: ArgDef): 'string' | 'integer' | 'number' | 'boolean' | 'path' =>
  arg.type === 'array' ? (arg.items ?? 'string') : arg.type

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

/** A loaded config with its file and its warnings. */
export interface LoadedConfig {
  /** The requested name. */
  readonly name: string
  readonly file: string
  readonly config: CliConfig
  readonly warnings: readonly Problem[]
}

/** A config that could not be loaded. */
export interface LoadFailure {
  readonly name: string
  readonly error: TooldexError
  /** Whether it was found in a folder rather than requested by name. */
  readonly found?: boolean
}

/** The loaded configs and the failures: one invalid file does not affect the others. */
export interface LoadResult {
  readonly configs: readonly LoadedConfig[]
  readonly failures: readonly LoadFailure[]
}

/** An origin of tools that returns its current configs and reports changes. */
export interface Source {
  readonly kind: string
  load(): LoadResult
  /** Calls `onChange` after each change until the signal is aborted. */
  watch(onChange: () => void, signal: AbortSignal): void
}
