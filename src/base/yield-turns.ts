import { setImmediate } from 'node:timers/promises'
import { TooldexError } from './errors.ts'

/** Returns a function to await between the steps of long work, so that other work gets its turn and the signal can cancel it. */
export function yieldTurns(signal?: AbortSignal, maxMs = 10): () => Promise<void> | undefined {
  let turn = performance.now()
  return () => {
    if (signal?.aborted) throw new TooldexError('EXECUTION_CANCELLED', 'The work was cancelled.')
    if (performance.now() - turn < maxMs) return undefined
    return setImmediate().then(() => {
      turn = performance.now()
    })
  }
}
