import * as z from 'zod'

/** A single YAML or JSON value: what an enum may list and a default may be. */
export const Scalar = z.union([z.string(), z.number(), z.boolean()])
export type Scalar = z.infer<typeof Scalar>

export const argTypes = ['string', 'integer', 'number', 'boolean', 'path', 'array'] as const

/** One argument of a tool: what the model may say, and where it goes on the command line. */
export const ArgDef = z.strictObject({
  name: z.string().min(1),
  type: z.enum(argTypes).default('string'),
  description: z.string().default(''),
  required: z.boolean().default(false),
  default: z.union([Scalar, z.array(Scalar), z.null()]).optional(),
  /** `--flag`, `-f`, or `key=` to join flag and value into one word. Without one it is made from the name. */
  flag: z.string().min(1).nullish(),
  /** true for definition order, or a number to order by. */
  positional: z.union([z.boolean(), z.int().min(0)]).default(false),
  /** The value is the folder to run in. */
  cwd: z.boolean().default(false),
  /** The value is piped to the program's standard input. */
  stdin: z.boolean().default(false),
  enum: z.array(Scalar).nullish(),
  /** The argument is a list; its flag is written once for each value. */
  repeat: z.boolean().default(false),
  /** The type of each value of an array. */
  items: z.enum(['string', 'integer', 'number', 'boolean', 'path']).optional(),
  /** For `type: path`: the folder the value may not leave. */
  root: z.string().min(1).optional(),
})
export type ArgDef = z.infer<typeof ArgDef>

/** What a tool does to the world, as hints for whoever approves a call. */
export const Annotations = z.strictObject({
  readOnly: z.boolean().optional(),
  destructive: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  openWorld: z.boolean().optional(),
})
export type Annotations = z.infer<typeof Annotations>

/** The hints of a config under the names that MCP gives them. */
export function toHints({ readOnly, destructive, idempotent, openWorld }: Annotations) {
  return {
    ...(readOnly === undefined ? {} : { readOnlyHint: readOnly }),
    ...(destructive === undefined ? {} : { destructiveHint: destructive }),
    ...(idempotent === undefined ? {} : { idempotentHint: idempotent }),
    ...(openWorld === undefined ? {} : { openWorldHint: openWorld }),
  }
}

/** Which variables of the caller's environment a program gets: all where absent, else those named. */
const InheritEnv = z.union([z.boolean(), z.array(z.string())])

/** What a command asks of the machine it runs on; on a server it gets what the operator allows. */
const hostSettings = {
  /** `isolated` or `confined` in a sandbox, `limited` without one; a server chooses the best sandbox where absent. */
  isolation: z.enum(['isolated', 'confined', 'limited']).optional(),
  /** Whether it uses the network; a server gives it where the operator allows it. */
  network: z.boolean().optional(),
  /** The folder that it starts in and that its paths may not leave. */
  root: z.string().min(1).optional(),
}

/** One command of a program. */
export const ToolDef = z.strictObject({
  name: z.string().min(1),
  description: z.string(),
  command: z.string().default(''),
  args: z.array(ArgDef).default([]),
  /** Seconds; none or 0 means the default limit. */
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

/** A YAML config: one command-line program and the tools made of it. */
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

/** A config as a program may write it: everything that has a default may be left out. */
export type CliConfigInput = z.input<typeof CliConfig>

/** Whether an argument takes a list of values. */
export const isList = (arg: ArgDef): boolean => arg.repeat || arg.type === 'array'

/** The type of one value of an argument. */
export const itemType = (arg: ArgDef): 'string' | 'integer' | 'number' | 'boolean' | 'path' =>
  arg.type === 'array' ? (arg.items ?? 'string') : arg.type
