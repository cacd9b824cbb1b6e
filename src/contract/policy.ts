import * as z from 'zod'
import { bothYamlSpellings, type KeyShape, sameYamlKeys } from '../documents/yaml-keys.ts'
import type { Caller, Condition, RegistryState } from './stores.ts'

/** The bounds on the values of one argument. */
export const ArgConstraint = z.strictObject({
  /** A regular expression (RE2) that the complete string must match. */
  pattern: z.string().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
})
export type ArgConstraint = z.infer<typeof ArgConstraint>

/** The rule of a policy for one tool. */
export const ToolRule = z.strictObject({
  description: z.string().optional(),
  args: z.record(z.string(), ArgConstraint).default({}),
  /** Whether each call needs approval. */
  requireApproval: z.boolean().optional(),
  /** The number of recorded inputs that must give the same output before a proposal can be accepted. */
  requireReplay: z.int().min(1).max(1000).optional(),
})
export type ToolRule = z.infer<typeof ToolRule>

/** The execution environment of commands: this host, or a new container of an image. */
export const ExecutorChoice = z.strictObject({
  type: z.enum(['local', 'docker']).default('local'),
  image: z.string().min(1).optional(),
  volumes: z.array(z.string()).default([]),
  workingDir: z.string().optional(),
  network: z.string().optional(),
})
export type ExecutorChoice = z.infer<typeof ExecutorChoice>

/** The tools that a caller may use, the bounds on their arguments, and the environment they run in. */
export const Policy = z.strictObject({
  executor: ExecutorChoice.prefault({}),
  default: z.enum(['disabled', 'enabled']).default('disabled'),
  tools: z.record(z.string(), ToolRule).default({}),
  /** The names of the keys it applies to; all callers where absent. */
  callers: z.array(z.string().min(1)).optional(),
})
export type Policy = z.infer<typeof Policy>

/** The keys of a policy file. */
export const policyKeys: KeyShape = {
  keys: sameYamlKeys('executor default tools callers'),
  inside: {
    executor: {
      keys: { ...sameYamlKeys('type image volumes network'), working_dir: 'workingDir', workingDir: 'workingDir' },
    },
    tools: {
      each: {
        keys: {
          ...sameYamlKeys('description args requireApproval requireReplay'),
          require_approval: 'requireApproval',
          require_replay: 'requireReplay',
        },
        inside: { args: { each: { keys: sameYamlKeys('pattern min max') } } },
      },
    },
  },
}

/** The name of a limit. */
export const LimitName = z.string().trim().min(1).max(100)

const subject = (what: string, example: string) =>
  z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe(`${what}, such as ${example}; * counts each one separately; all together where absent.`)
const amount = (what: string) => z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe(what)

/** The measures of a limit, in the order in which they are checked. */
export const limitMeasures = ['callsPerMinute', 'callsPerDay', 'secondsPerDay', 'bytesPerDay', 'tokensPerDay'] as const
export type LimitMeasure = (typeof limitMeasures)[number]

/** A rate limit or daily budget of a caller, a tool, a toolset or a combination of them. */
export const Limit = z.strictObject({
  name: LimitName,
  caller: subject('The name of a key, sub:SUBJECT or group:NAME', 'ci'),
  tool: subject('The name of a tool', 'send_mail'),
  toolset: subject('The name of a toolset', 'support'),
  callsPerMinute: z.int().min(0).max(1_000_000).optional().describe('Calls per minute.'),
  callsPerDay: z.int().min(0).max(2_000_000_000).optional().describe('Calls per day (UTC).'),
  secondsPerDay: amount('Seconds of run time per day.'),
  bytesPerDay: amount('Bytes of output per day.'),
  tokensPerDay: amount('Tokens of answers per day.'),
})
export type Limit = z.infer<typeof Limit>

/** The keys of a limit in a file. */
export const limitKeys: KeyShape = {
  keys: { ...sameYamlKeys('name caller tool toolset'), ...bothYamlSpellings(limitMeasures.join(' ')) },
}

/** The present use of a limit by one subject. */
export interface LimitUse {
  readonly limit: string
  /** The caller, tool and toolset that are counted separately; empty where all are counted together. */
  readonly subject: string
  readonly used: Readonly<Record<LimitMeasure, number>>
}

/** A counter of a limit that a call counts toward. */
export interface LimitCounter {
  readonly limit: Limit
  readonly subject: string
}

/** A call that a limit does not allow now, and the seconds until it may. */
export interface LimitRefusal extends LimitCounter {
  readonly measure: LimitMeasure
  readonly retryAfter: number
}

/** Limits and their counters; the clock is that of the database. */
export interface LimitStore extends DefinitionStore<Limit> {
  /** Counts a call, unless one of the limits is reached: then nothing is counted. */
  take(workspace: string, counters: readonly LimitCounter[]): Promise<LimitRefusal | undefined>
  /** Takes back a call that was counted but is not run. */
  giveBack(workspace: string, counters: readonly LimitCounter[]): Promise<void>
  /** The present use of all limits. */
  usage(workspace: string): Promise<readonly LimitUse[]>
}

/** Definitions by name. */
export interface DefinitionStore<Definition extends { readonly name: string }> {
  /** With a state of the registry, at least as new as that. */
  list(workspace: string, state?: RegistryState): Promise<readonly Definition[]>
  get(workspace: string, name: string): Promise<Definition | undefined>
  /** Creates a definition or replaces the one with the same name. */
  put(caller: Caller, definition: Definition, options?: Condition): Promise<void>
  remove(caller: Caller, name: string, options?: Condition): Promise<void>
}
