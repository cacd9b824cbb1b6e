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
