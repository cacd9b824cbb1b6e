import { useSyncExternalStore } from 'react'

let isLost = false
const listeners = new Set<() => void>()

/** Records whether the last request reached the server. */
export function noteConnection(isReached: boolean): void {
  if (isLost === !isReached) return
  isLost = !isReached
  for (const listener of listeners) listener()
}

/** Whether the server answers now. */
export async function probeServer(): Promise<boolean> {
  const isReached = await fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  noteConnection(isReached)
  return isReached
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether the server did not answer the last request. */
export const useIsConnectionLost = (): boolean => useSyncExternalStore(subscribe, () => isLost)
