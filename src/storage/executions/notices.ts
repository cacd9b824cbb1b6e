import type { RunNotice } from '../../contract/execution.ts'

/** The channel on which processes tell each other of runs. */
export const runChannel = 'tooldex_runs'

/** A notice as it was sent, or nothing where it is none of ours. */
export function readNotice(payload: string): RunNotice | undefined {
  const [kind, id] = payload.split(':')
  if (id === undefined || (kind !== 'queued' && kind !== 'cancel' && kind !== 'changed')) return undefined
  return { kind, id }
}
