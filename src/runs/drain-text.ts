import type { LeasedRun } from './heartbeat.ts'

const maxListed = 5

/** The line about the runs that a stopping process waits for. */
export function drainText(runs: readonly LeasedRun[], drainMs: number): string {
  const seconds = `${Math.round(drainMs / 100) / 10} s`
  if (runs.length === 0) return `stopping: waiting up to ${seconds} for calls that run in other processes`
  return `stopping: waiting up to ${seconds} for ${namesOf(runs)}`
}

/** The line about the runs that did not end in time. */
export const stoppingText = (runs: readonly LeasedRun[]): string =>
  `stopping: ${namesOf(runs)} did not end in time; idempotent runs go back to the queue, others are cancelled`

function namesOf(runs: readonly LeasedRun[]): string {
  const names = runs.slice(0, maxListed).map(({ toolName, id }) => `${toolName} (${id})`)
  const more = runs.length > maxListed ? ` and ${runs.length - maxListed} more` : ''
  return `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}: ${names.join(', ')}${more}`
}
