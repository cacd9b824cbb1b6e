import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../../base/errors.ts'
import { hashJson } from '../../base/hash-json.ts'
import type { Caller, IdempotencyStore } from '../../contract/stores.ts'

/** What a request is answered. */
export interface StoredResponse {
  readonly status: number
  readonly body: unknown
}

const waitMs = 10_000
const stepMs = 50

/** Answers a request under an Idempotency-Key once: the same again gets the same answer, also while the first still runs. */
export async function respondOnce(
  { answers, caller, key, request }: { answers: IdempotencyStore; caller: Caller; key: string; request: unknown },
  answer: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  if (key.length > 200 || key.trim() === '')
    throw new TooldexError('INPUT_INVALID', 'Idempotency-Key must have 1 to 200 characters.')
  const hash = hashJson(request)
  for (let waited = 0; waited < waitMs; waited += stepMs) {
    const claim = await answers.claim(caller, key, hash)
    if (claim === 'fresh') return runAndKeep({ answers, caller, key }, answer)
    if (claim === 'other-body')
      throw new TooldexError('KEY_REUSED', 'This Idempotency-Key was used for another request.')
    if (claim !== 'running') return claim
    await sleep(stepMs)
  }
  throw new TooldexError('TOO_BUSY', 'The first request under this Idempotency-Key still runs.')
}

/** A failure is not kept, so that the request can be tried again. */
async function runAndKeep(
  { answers, caller, key }: { answers: IdempotencyStore; caller: Caller; key: string },
  answer: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  try {
    const given = await answer()
    await answers.keep(caller, key, given)
    return given
  } catch (error) {
    await answers.forget(caller, key).catch(() => {})
    throw error
  }
}
