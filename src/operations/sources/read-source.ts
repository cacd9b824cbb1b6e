import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { describeFailure } from '../../executors/mcp/describe-failure.ts'
import type { SourceContext } from './source-view.ts'
import { storeReading } from './store-reading.ts'

// The start has a timeout of its own.
const readMs = 120_000

/** Reads what a server offers, and stores it: the first manifest as it is, a later one as far as the trust rule allows. */
export async function readSource(context: SourceContext, name: string): Promise<void> {
  const { caller, sources, catalog } = context
  const { stores } = context.registry
  const ref = { workspace: caller.workspace, name }
  const timeout = AbortSignal.timeout(readMs)
  const signal = context.signal === undefined ? timeout : AbortSignal.any([timeout, context.signal])
  try {
    const manifest = await sources.read(ref, signal)
    await storeReading({ stores, caller, logger: context.logger, signal }, name, manifest)
    await stores.sources.noteAttempt(ref, null)
  } catch (thrown) {
    const reason = timeout.aborted ? `did not answer within ${readMs / 1000} s` : describeFailure(thrown)
    await stores.sources.noteAttempt(ref, { at: new Date().toISOString(), reason })
    const error = toTooldexError(thrown)
    if (error.code !== 'INTERNAL') throw error
    throw new TooldexError('UPSTREAM_ERROR', `The MCP server '${name}' ${reason}.`, { cause: thrown })
  } finally {
    await catalog.syncRegistry?.()
  }
}
