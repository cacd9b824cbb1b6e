import * as z from 'zod'

const Text = z.string().max(8000)

/** A value of a command line, variable, header or URL that the user may have to provide. */
const Input = z.object({
  description: Text.optional(),
  /** The fixed value, with `{name}` for variables. */
  value: Text.optional(),
  default: Text.optional(),
  isRequired: z.boolean().default(false),
  isSecret: z.boolean().default(false),
  choices: z.array(Text).max(1000).optional(),
})
export type ServerJsonInput = z.infer<typeof Input> & {
  readonly variables?: Readonly<Record<string, z.infer<typeof Input>>> | undefined
}

const WithVariables = Input.extend({ variables: z.record(z.string().max(200), Input).optional() })
const Named = WithVariables.extend({ name: z.string().min(1).max(200) })

/** An argument of a command line. */
const Argument = z.discriminatedUnion('type', [
  WithVariables.extend({
    type: z.literal('positional'),
    /** The name of the value; no part of the command line. */
    valueHint: z.string().max(200).optional(),
    isRepeated: z.boolean().default(false),
  }),
  Named.extend({ type: z.literal('named'), isRepeated: z.boolean().default(false) }),
])
export type ServerJsonArgument = z.infer<typeof Argument>

const args = z.array(Argument).max(200).default([])

const Package = z.object({
  registryType: z.string().max(50),
  registryBaseUrl: z.url().max(2000).optional(),
  identifier: z.string().min(1).max(2000),
  version: z.string().max(255).optional(),
  fileSha256: z.string().optional(),
  runtimeHint: z.string().max(50).optional(),
  transport: z.object({ type: z.string().max(50) }).default({ type: 'stdio' }),
  runtimeArguments: args,
  packageArguments: args,
  environmentVariables: z.array(Named).max(200).default([]),
})
export type ServerJsonPackage = z.infer<typeof Package>

const Remote = z.object({
  type: z.string().max(50),
  url: Text.min(1),
  headers: z.array(Named).max(200).default([]),
  variables: z.record(z.string().max(200), Input).optional(),
})
export type ServerJsonRemote = z.infer<typeof Remote>

/** The name of a server in the MCP registry: a reversed domain, and a name in it. */
export const ServerJsonName = z
  .string()
  .max(200)
  .regex(
    /^[A-Za-z0-9.-]+\/[A-Za-z0-9._-]+$/,
    'must be a reversed domain, a slash and a name, such as com.example/weather',
  )

/** A `server.json` of the MCP registry: where a server is found, and what it needs to run. */
export const ServerJson = z.object({
  name: ServerJsonName,
  description: Text.optional(),
  version: z.string().max(255).optional(),
  packages: z.array(Package).max(100).default([]),
  remotes: z.array(Remote).max(100).default([]),
})
export type ServerJson = z.infer<typeof ServerJson>

/** The revision of the format that is written. */
export const serverJsonSchema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
