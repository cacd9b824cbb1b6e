import * as z from 'zod'
import { yieldTurns } from '../../base/yield-turns.ts'
import { ChainVerifier, chainStart, hashRow, toChainLine } from '../../rules/audit-chain.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { pageOf, paging } from '../registry/inputs.ts'
import { After, Head, toVerification, Verification } from './verification.ts'

const tag = 'audit'

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
