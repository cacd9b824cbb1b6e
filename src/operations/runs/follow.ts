import * as z from 'zod'
import { mustExist, TooldexError } from '../../base/errors.ts'
import { attemptNumbers, Execution } from '../../contract/execution.ts'
import { isFinal } from '../../rules/is-final.ts'
import { withServices } from '../invoke.ts'
import type { PartialContext } from '../operation.ts'
import { outcomeOfExecution } from './execution-result.ts'
import { findExecution } from './executions.ts'

/** An event of a run: its status, its output, its end. */
export const RunEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('status'), execution: Execution }),
  z.object({ event: z.literal('output'), seq: z.int(), stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.object({ event: z.literal('end'), execution: Execution }),
])
export type RunEvent = z.infer<typeof RunEvent>

const pollIntervalMs = 1000

/** Follows a run in any process until it has ended; `after` is the number of the last output received. */
export async function* followExecution(
  available: PartialContext,
  id: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<RunEvent | undefined> {
  const context = withServices({ needs: ['catalog', 'memory', 'registry', 'runs'] }, available)
  if (!context.scopes.has('read'))
    throw new TooldexError('FORBIDDEN', "This needs the scope 'read' (executions.follow).")
  const { executions } = context.registry.stores
  const { runs } = context
  let seen = after
  let status: string | undefined
  while (!signal.aborted) {
    const execution = mustExist(await findExecution(context, id), 'execution', id)
    const ended = isFinal(execution.status)
    if (!ended && execution.status !== status) yield { event: 'status', execution }
    status = execution.status
    for (let more = true; more; ) {
      const events = await executions.events(execution.id, seen)
      for (const event of events) yield { event: 'output', ...event }
      seen = events.at(-1)?.seq ?? seen
      // An ended run is not queried again.
      more = ended && events.length > 0
    }
    if (ended && seen < execution.attempt * attemptNumbers) yield* printedBy(execution)
    if (ended) context.memory.noteEnd(execution)
    if (ended) return yield { event: 'end', execution }
    await runs.nextChange(id, pollIntervalMs, signal)
    // Keeps the connection alive.
    yield undefined
  }
}

/** The output of a run that ended before any was streamed; a large output is read by its handle. */
function* printedBy(execution: Execution): Generator<RunEvent> {
  // Only processes print.
  if (execution.exitCode === null) return
  const { stdout, stderr } = outcomeOfExecution(execution).result
  const isWhole = execution.result === null || execution.logs.stdout !== ''
  let seq = execution.attempt * attemptNumbers
  if (stdout !== '' && isWhole) yield { event: 'output', seq: ++seq, stream: 'stdout', text: stdout }
  if (stderr !== '') yield { event: 'output', seq: ++seq, stream: 'stderr', text: stderr }
}
