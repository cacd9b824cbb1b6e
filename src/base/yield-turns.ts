import { TooldexError } from './errors.ts'

/** Work that waits for a turn, first come, first served. */
const waiting: (() => void)[] = []
/** When the last turn of such work began; all work of one turn shares it. */
let began = Number.NEGATIVE_INFINITY

/** Returns a function to await between the steps of long work, so that other work gets its turn and the signal can cancel it. */
export function yieldTurns(signal?: AbortSignal, maxMs = 10): () => Promise<void> | undefined {
  return () => {
    if (signal?.aborted) throw new TooldexError('EXECUTION_CANCELLED', 'The work was cancelled.')
    return performance.now() - began < maxMs ? undefined : nextTurn()
  }
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeNext)
  })

/** Resumes one piece of work in each turn of the event loop, however many wait. */
function resumeNext(): void {
  const resume = waiting.shift()
  if (waiting.length > 0) setImmediate(resumeNext)
  began = performance.now()
  resume?.()
}
