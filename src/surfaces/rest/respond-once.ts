import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../../base/errors.ts'
import { hashJson } from '../../base/json-text.ts'
import type { Caller, IdempotencyStore } from '../../contract/stores.ts'

/** A stored response. */
export interface StoredResponse {
  readonly status: number
  readonly body: unknown
}

const waitMs = 10_000
const stepMs = 50

/** Runs a request with an Idempotency-Key once: a repetition gets the same response, also while the first is running. */
export async function respondOnce(
  { answers, caller, key, request }: { answers: IdempotencyStore; caller: Caller; key: string; request: unknown },
  answer: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  if (key.length > 200 || key.trim() === '')
    throw new TooldexError('INPUT_INVALID', 'Idempotency-Key must have 1 to 200 characters.')
  const hash = hashJson(request)
  for (let waited = 0; waited < waitMs; waited += stepMs) {
    const claim = await answers.claim(caller, key, hash)
    if (claim === 'fresh') return runAndStore({ answers, caller, key }, answer)
    if (claim === 'other-body')
      throw new TooldexError('KEY_REUSED', 'This Idempotency-Key was used for another request.')
    if (claim !== 'running') return claim
    await sleep(stepMs)
  }
  throw new TooldexError('TOO_BUSY', 'The first request with this Idempotency-Key is still running.')
}

/** A failure is not stored, so that the request can be retried. */
async function runAndStore(
  { answers, caller, key }: { answers: IdempotencyStore; caller: Caller; key: string },
  answer: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  try {
    const response = await answer()
    await answers.keep(caller, key, response)
    return response
  } catch (error) {
    await answers.forget(caller, key).catch(() => {})
    throw error
  }
}
