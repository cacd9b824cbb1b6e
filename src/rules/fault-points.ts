/** The moments at which a crash leaves the most unfinished state. */
export type FaultPoint =
  | 'F1 row inserted'
  | 'F2 claimed'
  | 'F3 spawned'
  | 'F4 half output'
  | 'F5 exit seen'
  | 'F6 before final write'
  | 'F7 after final write'
  | 'F8 version inserted'
  | 'F9 migration step'

let hook: ((point: FaultPoint) => void) | undefined

/** Reports that a fault point is reached; does nothing unless a test has set a hook. */
export function reachPoint(point: FaultPoint): void {
  hook?.(point)
}

/** Sets the hook, for tests that end the process at a point. @public */
export function onFaultPoint(listener: (point: FaultPoint) => void): void {
  hook = listener
}

/** Whether a test has set a hook. */
export const hasFaultHook = (): boolean => hook !== undefined
