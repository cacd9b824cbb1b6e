import { randomUUID } from 'node:crypto'
import type { InputRequiredResult } from '@modelcontextprotocol/server'
import { TooldexError } from '../../base/errors.ts'
import type { CallAnswer } from '../../operations/runs/call-tool.ts'
import type { Round } from './client-rounds.ts'

const key = 'sign-in'

/**
 * The answer to a call, or the request that the user of the client opens the page of a sign-in; the repeated call finds the
 * account. For a client that opens no URLs, and a user who was asked already, the error names the URL.
 */
export async function orSignIn(
  call: Promise<CallAnswer>,
  round: Round | undefined,
): Promise<CallAnswer | InputRequiredResult> {
  try {
    return await call
  } catch (thrown) {
    const isSignIn = thrown instanceof TooldexError && thrown.code === 'SIGN_IN_REQUIRED'
    const opensUrls = round?.capabilities.elicitation?.url !== undefined && round.resumed?.signIn !== true
    if (!isSignIn || thrown.url === undefined || !opensUrls) throw thrown
    const message = `${thrown.message} Sign in on this page; the call is repeated after that.`
    const params = { mode: 'url' as const, url: thrown.url, message, elicitationId: randomUUID() }
    const requestState = await round.keep({ signIn: true })
    const inputRequests = { [key]: { method: 'elicitation/create' as const, params } }
    return { resultType: 'input_required', inputRequests, requestState } as InputRequiredResult
  }
}
