import { setImmediate } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { loadTokenCounter } from '../base/tokens.ts'
import { loadHttpClient } from '../executors/http/http-executor.ts'
import { validateValue } from '../json-schema/offload/json-work.ts'
import type { ProcessContext } from '../operations/operation.ts'

/**
 * Loads what the first calls need, before the server listens: each part holds the event loop for tens of milliseconds. The database
 * opens meanwhile.
 */
export async function preload(): Promise<void> {
  const steps: readonly (() => unknown)[] = [
    loadHttpClient,
    // The first request to a service over TLS would read the root certificates.
    createSecureContext,
    loadTokenCounter,
    () => validateValue({ type: 'object', properties: { a: { type: 'string', pattern: '^a' } } }, { a: 'b' }),
  ]
  for (const step of steps) {
    await setImmediate()
    await step()
  }
}

/** Reads the tools into the search index, in turns with the first requests. */
export async function indexTools({ catalog, logger }: ProcessContext, signal: AbortSignal): Promise<void> {
  try {
    const tools = await catalog.indexInTurns('hybrid', signal)
    tools.search({ query: 'warm up', limit: 1 })
  } catch (error) {
    if (!signal.aborted) logger.warn(`The tools could not be indexed: ${String(error)}`)
  }
}
