import type { RunNotice } from '../../contract/execution.ts'

/** The channel for notices about runs. */
export const runChannel = 'tooldex_runs'

/** Parses a notice; undefined where the payload is not a valid one. */
export function readNotice(payload: string): RunNotice | undefined {
  const [kind, id] = payload.split(':')
  if (id === undefined || (kind !== 'queued' && kind !== 'cancel' && kind !== 'changed')) return undefined
  return { kind, id }
}
