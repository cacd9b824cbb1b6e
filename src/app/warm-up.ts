import { setImmediate, setTimeout } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { loadTokenCounter } from '../base/tokens.ts'
import { loadHttpClient } from '../executors/http/http-executor.ts'
import { validateValue } from '../json-schema/offload/json-work.ts'
import type { ProcessContext } from '../operations/operation.ts'
import { openApiDocument } from '../surfaces/rest/index.ts'

// The first requests have priority.
const delayMs = 500

/** Preloads the validator, the HTTP client, the encoder and the OpenAPI document, one after the other. */
export async function warmUp({ catalog, logger }: ProcessContext, signal: AbortSignal): Promise<void> {
  const steps: readonly (() => unknown)[] = [
    () => validateValue({ type: 'object', properties: { a: { type: 'string', pattern: '^a' } } }, { a: 'b' }),
    () => openApiDocument(),
    // The first request to a service over TLS would read the root certificates.
    () => createSecureContext(),
    () => loadHttpClient(),
    () => loadTokenCounter(),
    async () => (await catalog.open()).tools.search({ query: 'warm up', limit: 1 }),
  ]
  try {
    await setTimeout(delayMs, undefined, { signal, ref: false })
    for (const step of steps) {
      await setImmediate(undefined, { signal })
      await step()
    }
  } catch (error) {
    if (!signal.aborted) logger.warn(`The warm-up failed: ${String(error)}`)
  }
}
