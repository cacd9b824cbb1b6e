import * as z from 'zod'
import { bothSpellings, type KeyShape, sameKeys } from '../documents/yaml-keys.ts'

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
