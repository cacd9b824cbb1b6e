import type { LeasedRun } from './heartbeat.ts'

const maxNamed = 5

/** A line about what a stopping process waits for. */
export function drainText(runs: readonly LeasedRun[], drainMs: number): string {
  const seconds = `${Math.round(drainMs / 100) / 10} s`
  if (runs.length === 0) return `stopping: waiting up to ${seconds} for calls that others run`
  return `stopping: waiting up to ${seconds} for ${namesOf(runs)}`
}

/** A line about what did not end in time. */
export const stoppingText = (runs: readonly LeasedRun[]): string =>
  `stopping: ${namesOf(runs)} did not end in time; idempotent runs go back to the queue, others are cancelled`

function namesOf(runs: readonly LeasedRun[]): string {
  const named = runs.slice(0, maxNamed).map(({ toolName, id }) => `${toolName} (${id})`)
  const more = runs.length > maxNamed ? ` and ${runs.length - maxNamed} more` : ''
  return `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}: ${named.join(', ')}${more}`
}
