import * as z from 'zod'

/** The public facts of a kind of executor, which layers outside `executors/` depend on. */
export interface ExecutorKind {
  /** Whether its tools are processes of this machine: the launcher starts them, in a sandbox. */
  readonly isProcess: boolean
  /** Whether results come from other services, or contain theirs, so that they are scanned for instructions to models. */
  readonly hasForeignResults?: boolean
  /** The grant that every tool of the kind needs. */
  readonly grant?: Grant
  /** Whether its configs are expanded with variables of the server. */
  readonly expandsVariables?: boolean
  /** Whether its tools exist only in the program that defines them, and cannot be registered. */
  readonly isOwn?: boolean
  /** The fields of its plans, beside those of every plan. */
  readonly plan: z.ZodRawShape
}

/** The timeout of a run, in the config of every executor kind. */
export const TimeoutMs = z.int().min(1).max(3_600_000)

const argv = z.array(z.string()).min(1)
/** Names only: values may be secrets. */
const env = z.array(z.string())
const limits = z.record(z.string(), z.number())
const network = z.boolean()
const command = { argv, cwd: z.string().nullable(), env, stdin: z.boolean() }

/** All kinds of executors. Each is a folder of `executors/` and one line of this list. */
export const executorKinds = {
  python: {
    isProcess: true,
    plan: {
      argv,
      env,
      script: z.object({ sha256: z.string(), bytes: z.int(), content: z.string() }),
      /** The Python environment. */
      environment: z.string().nullable(),
      network,
      limits,
    },
  },
  shell: { isProcess: true, plan: { ...command, network, limits } },
  http: {
    isProcess: false,
    hasForeignResults: true,
    plan: {
      request: z.object({
        method: z.string(),
        url: z.string(),
        headers: z.record(z.string(), z.string()),
        body: z.string().nullable(),
      }),
    },
  },
  mcp: {
    isProcess: false,
    hasForeignResults: true,
    grant: 'mcp',
    plan: {
      /** The call of an upstream tool. */
      upstream: z.object({ server: z.string(), tool: z.string(), arguments: z.record(z.string(), z.unknown()) }),
    },
  },
  /** Programs of code mode; no tool is registered with this kind. */
  program: {
    isProcess: false,
    hasForeignResults: true,
    plan: { program: z.object({ sha256: z.string(), bytes: z.int() }), limits },
  },
  cli: {
    isProcess: true,
    expandsVariables: true,
    plan: {
      ...command,
      network: network.optional(),
      /** The visible folders of the host, each with `:ro` or `:rw`. */
      folders: z.array(z.string()).optional(),
    },
  },
  code: {
    isProcess: false,
    isOwn: true,
    plan: {
      /** The call of a function of this program. */
      call: z.object({ function: z.string(), arguments: z.record(z.string(), z.unknown()) }),
    },
  },
} as const satisfies Readonly<Record<string, ExecutorKind>>

/** The name of any kind of executor. */
export type ExecutorKindName = keyof typeof executorKinds
export const ExecutorKindName = z.enum(Object.keys(executorKinds) as [ExecutorKindName])

/** The name of a kind of executor that registered tools can have. */
export const ExecutorType = z.enum(
  Object.keys(executorKinds).filter((name) => findExecutorKind(name)?.isOwn !== true) as [
    Exclude<ExecutorKindName, 'code'>,
  ],
)
export type ExecutorType = z.infer<typeof ExecutorType>

/** The facts of a kind; undefined for a kind of another release. */
export function findExecutorKind(executorType: string): ExecutorKind | undefined {
  return Object.hasOwn(executorKinds, executorType) ? executorKinds[executorType as ExecutorKindName] : undefined
}

/** The grants that an operator can give to workspaces, each with the action it permits. */
export const hostGrants = {
  host: 'run processes outside the isolated sandbox',
  folders: 'use folders of the host',
  network: 'use the network of the host from a sandbox',
  env: 'read variables of the server',
  files: 'read secrets from files of the host',
  private: 'send requests to private networks',
  mcp: 'call the MCP servers of the host',
  packages: 'use or install Python packages of the host',
} as const

export type Grant = keyof typeof hostGrants

export const allGrants = Object.keys(hostGrants) as readonly Grant[]

/** The initial workspace; it has every grant unless the operator configures otherwise. */
export const firstWorkspace = 'default'

/** The grants of each workspace on this host. */
export type GrantsOf = (workspace: string) => readonly Grant[]
