import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { describeFailure, needsSignIn, nextStep } from '../../executors/mcp/describe-failure.ts'
import { ownerOf } from '../../rules/server-definition.ts'
import { signInError } from './require-sign-in.ts'
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
    const manifest = await sources.read(ref, signal, caller.actor)
    await storeReading({ stores, caller, logger: context.logger, signal }, name, manifest)
    await stores.sources.noteAttempt(ref, null)
  } catch (thrown) {
    const reason = timeout.aborted
      ? `did not answer within ${readMs / 1000} s`
      : describeFailure(thrown) + nextStep(thrown, name, true)
    const isSignIn = needsSignIn(thrown)
    // One caller without a sign-in of their own is no failure of the source.
    if (!isSignIn || (await usesShared(context, name))) {
      const failure = { at: new Date().toISOString(), reason, ...(isSignIn ? { needsSignIn: true } : {}) }
      await stores.sources.noteAttempt(ref, failure)
    }
    if (isSignIn) throw await signInError(context, name)
    const error = toTooldexError(thrown)
    if (error.code !== 'INTERNAL') throw error
    throw new TooldexError('UPSTREAM_ERROR', `The MCP server '${name}' ${reason}.`, { cause: thrown })
  } finally {
    await catalog.syncRegistry?.()
  }
}

async function usesShared({ registry, caller }: SourceContext, name: string): Promise<boolean> {
  const source = await registry.stores.sources.summary(caller.workspace, name)
  return source !== undefined && ownerOf(source.server, caller.actor) === ''
}
