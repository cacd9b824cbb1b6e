import * as z from 'zod'
import { breakKinds, type ChainVerifier } from '../../rules/audit-chain.ts'

/** A hash that was noted earlier. */
export const Head = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a hash of 64 hexadecimal digits, as printed by audit verify')
  .optional()
  .describe('A head that was noted earlier and must still be in the log, which shows that no later row was removed.')

/** The row to start after. */
export const After = z.int().min(0).optional().describe('Start after the row with this number.')

const ChainEnd = z.object({ sequence: z.int(), hash: z.string() })

/** The result of a verification. */
export const Verification = z.object({
  intact: z.boolean(),
  rows: z.int().describe('The number of intact rows from the start.'),
  head: ChainEnd.nullable().describe('The last intact row; note its hash to detect a later truncation.'),
  firstBreak: z
    .object({
      kind: z.enum(breakKinds),
      sequence: z.int().describe('The number of the row at which the chain breaks.'),
      message: z.string(),
      row: z
        .object({ at: z.string(), actor: z.string(), action: z.string(), subject: z.string() })
        .nullable()
        .describe('The row that was found there.'),
    })
    .nullable(),
})

/** The result of a finished verifier. */
export const toVerification = ({ firstBreak, rows, head }: ChainVerifier): z.output<typeof Verification> =>
  Verification.parse({ intact: firstBreak === undefined, rows, head: head ?? null, firstBreak: firstBreak ?? null })
