import { resolve } from 'node:path'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { breakKinds, ChainVerifier, chainStart, hashRow, readChainLine, toChainLine } from '../../rules/audit-chain.ts'
import { readDumpLines } from '../database/dump-file.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { pageOf, paging } from './inputs.ts'

const tag = 'audit'

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

/** Lists audit entries. */
export const listAudit = defineOperation({
  name: 'audit.list',
  summary: 'List the audit log, newest first: each change with its caller and the values before and after.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'get', path: '/audit', tag },
  input: z.object({
    ...paging,
    subject: z.string().max(300).optional().describe('Only changes of this subject, such as tool:send_report.'),
  }),
  output: pageOf(
    z.object({
      at: z.string(),
      actor: z.string(),
      action: z.string(),
      subject: z.string(),
      before: z.unknown(),
      after: z.unknown(),
      requestId: z.string().nullable(),
      sequence: z.int().nullable().describe('The number of the row in its workspace; null outside the chain.'),
      hash: z.string().nullable().describe('The SHA-256 hash of the row, which covers the hash of the row before.'),
    }),
  ),
  handle: (query, context) => context.registry.stores.audit.list(context.caller.workspace, query),
})

/** Verifies the chain of the audit log. */
export const verifyAudit = defineOperation({
  name: 'audit.verify',
  summary: 'Verify the audit log: report the first row that was changed, removed or inserted.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'get', path: '/audit/verify', tag, deadlineMs: 600_000 },
  input: z.object({ head: Head, after: After }),
  output: Verification,
  async handle(options, context) {
    const verifier = new ChainVerifier(options)
    const { audit } = context.registry.stores
    const { workspace } = context.caller
    const turn = yieldTurns(context.signal)
    // Read before the rows: every row up to the head is visible then.
    let head = (await audit.head(workspace)) ?? noRows
    for await (const rows of audit.chain(workspace, options.after)) {
      // A row that was added meanwhile moved the head.
      if ((rows.at(-1)?.sequence ?? 0) > head.sequence) head = (await audit.head(workspace)) ?? noRows
      verifier.expectHead(head)
      for (const row of rows) {
        verifier.add(row, hashRow(row))
        await turn()
      }
      if (verifier.firstBreak !== undefined) break
    }
    verifier.expectHead(head)
    verifier.finish()
    return toVerification(verifier)
  },
})

const noRows = { sequence: 0, hash: chainStart }

/** Exports the audit log. */
export const exportAudit = defineOperation({
  name: 'audit.export',
  summary: 'Export the audit log as JSON lines, oldest first, which can be verified without the database.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'get', path: '/audit/export', tag, media: 'application/x-ndjson' },
  input: z.object({ after: After }),
  output: z.custom<globalThis.ReadableStream<Uint8Array>>((value) => value instanceof ReadableStream),
  handle({ after }, context) {
    const pages = readPages(context, after)
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await pages.next()
        if (done) controller.close()
        else controller.enqueue(Buffer.from(value))
      },
      cancel: async () => void (await pages.return()),
    })
  },
})

async function* readPages(
  context: OperationContext<'registry'>,
  after: number | undefined,
): AsyncGenerator<string, void> {
  for await (const rows of context.registry.stores.audit.chain(context.caller.workspace, after)) {
    context.signal?.throwIfAborted()
    yield rows.map((row) => `${toChainLine(row)}\n`).join('')
  }
}

/** Verifies an exported audit log. */
export const verifyAuditFile = defineOperation({
  name: 'audit.verifyFile',
  summary: 'Verify an exported audit log, without a registry.',
  scope: 'read',
  input: z.object({ file: z.string().min(1), head: Head, after: After }),
  output: Verification,
  async handle({ file, ...options }, context) {
    const verifier = new ChainVerifier(options)
    const turn = yieldTurns(context.signal)
    for await (const line of readDumpLines(resolve(file), (cause) => notExport(file, cause))) {
      if (!verifyAuditLine(verifier, line) && verifier.rows === 0) throw notExport(file)
      if (verifier.firstBreak !== undefined) break
      await turn()
    }
    verifier.finish()
    return toVerification(verifier)
  },
})

/** Adds a line of an export to a verification; false if it is not such a line. */
export function verifyAuditLine(verifier: ChainVerifier, line: string): boolean {
  const read = readChainLine(line)
  if (read === undefined) verifier.addUnreadable()
  else verifier.add(read.row, read.computed)
  return read !== undefined
}

const notExport = (file: string, cause?: unknown): TooldexError =>
  new TooldexError('FILE_REFUSED', `${file} is not an export of an audit log.`, {
    hint: 'Use a file written by tooldex audit export, unchanged.',
    cause,
  })
