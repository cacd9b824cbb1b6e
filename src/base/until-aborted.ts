/**
 * Rejects when the signal aborts, even if the work does not end. In Node 20, `fetch` no longer ends with its signal once the
 * response has begun and garbage was collected, so reading a response needs this as well.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}

/** Does work under a signal that aborts with any of several; unlike `AbortSignal.any`, nothing is left on long-lived signals. */
export async function withAnySignal<T>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const given = signals.filter((signal) => signal !== undefined)
  const [only] = given
  if (only !== undefined && given.length === 1) return work(only)
  const controller = new AbortController()
  const abort = (): void => controller.abort(given.find(({ aborted }) => aborted)?.reason)
  for (const signal of given) signal.addEventListener('abort', abort, { once: true })
  if (given.some(({ aborted }) => aborted)) abort()
  try {
    return await work(controller.signal)
  } finally {
    for (const signal of given) signal.removeEventListener('abort', abort)
  }
}
