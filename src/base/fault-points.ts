/** The moments at which a process that ends leaves the most behind. */
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

/** Says that a fault point is reached; nothing happens unless a test asked for it. */
export function reachPoint(point: FaultPoint): void {
  hook?.(point)
}

/** For tests that end the process at a point; they reach it through the build. @public */
export function onFaultPoint(listener: (point: FaultPoint) => void): void {
  hook = listener
}
