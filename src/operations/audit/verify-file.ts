import { resolve } from 'node:path'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { ChainVerifier, readChainLine } from '../../rules/audit-chain.ts'
import { readLines } from '../database/dump-file.ts'
import { defineOperation } from '../operation.ts'
import { After, Head, toVerification, Verification } from './verification.ts'

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
    for await (const line of readLines(resolve(file), (cause) => notExport(file, cause))) {
      if (!addLine(verifier, line) && verifier.rows === 0) throw notExport(file)
      if (verifier.firstBreak !== undefined) break
      await turn()
    }
    verifier.finish()
    return toVerification(verifier)
  },
})

/** Adds a line of an export to a verification; false if it is not such a line. */
export function addLine(verifier: ChainVerifier, line: string): boolean {
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
