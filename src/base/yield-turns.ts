import { setImmediate } from 'node:timers/promises'
import { TooldexError } from './errors.ts'

/** For long work: to be awaited between its steps, so that others get their turn and it can be cancelled. */
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
