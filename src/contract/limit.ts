import * as z from 'zod'
import { bothSpellings, type KeyShape, sameKeys } from '../documents/yaml-keys.ts'
import type { DefinitionStore } from './definition-store.ts'

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
  keys: { ...sameKeys('name caller tool toolset'), ...bothSpellings(limitMeasures.join(' ')) },
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
