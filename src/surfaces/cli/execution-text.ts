import { showInvisible, toOneLine } from '../../base/invisible-characters.ts'
import type { Execution, ExecutionSummary, QueueState } from '../../contract/execution.ts'
import type { WorkerState } from '../../contract/run.ts'
import type { RunCounts } from '../../contract/run-history.ts'
import { isFinal } from '../../rules/is-final.ts'
import { formatTable } from './format-table.ts'

/** The tool of a run, with its version where it has one. */
export const toolOf = ({ toolName, version }: ExecutionSummary): string =>
  version === null ? toolName : `${toolName}@${version}`

/** The status of a run, with the reason for waiting. */
export const stateOf = ({ status, reason }: ExecutionSummary): string =>
  reason === null ? status : `${status} (${reason})`

export const timeOf = (iso: string): string => iso.slice(0, 19).replace('T', ' ')
export const tookText = (ms: number | null): string =>
  ms === null ? '' : ms < 10_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`

interface Statistics {
  readonly total: RunCounts
  readonly hours: readonly (RunCounts & { readonly from: string })[]
  readonly complete: boolean
}

/** A run, with its calls where it is a program. */
interface ShownRun extends Execution {
  readonly children?: readonly ExecutionSummary[]
}

/** All details of one run. */
export function executionText(run: ShownRun, columns = 80): string {
  const facts: readonly (readonly [string, string | null])[] = [
    ['execution', run.id],
    ['tool', toolOf(run)],
    ['state', [stateOf(run), tookText(run.durationMs)].filter((part) => part !== '').join(', ')],
    ['error', run.errorCode === null ? null : `${run.errorCode}: ${run.errorMessage ?? ''}`],
    ['waits until', run.reason === null ? null : run.expiresAt],
    ['called', `${timeOf(run.createdAt)} UTC${run.callerId === null ? '' : ` by ${run.callerId}`}`],
    ['label', run.callerLabel],
    [
      'ran',
      run.worker === null
        ? null
        : `at ${run.worker}, attempt ${run.attempt}, ${run.isolation ?? (isFinal(run.status) ? 'lost before it ended' : 'not ended')}`,
    ],
    ['key', run.idempotencyKey],
    ['trace', run.traceId],
    ['parent', run.parentId],
    ['suspicious', run.suspicious === undefined ? null : `the result ${run.suspicious.join('; ')}`],
    ['input', JSON.stringify(run.inputData)],
  ]
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`${`${name}:`.padEnd(13)}${toOneLine(value)}`],
  )
  return `${[...lines, ...textsOf(run), ...timelineOf(run, columns)].join('\n')}\n`
}

function textsOf({ outputData, logs, result, truncated }: Execution): readonly string[] {
  const output = typeof outputData === 'string' ? outputData : JSON.stringify(outputData, null, 2)
  const more = result === null ? [] : [`(${result.bytes} bytes in all: tooldex executions result ${result.handle})`]
  return [
    ...(outputData === null ? [] : ['output:', indented(output), ...more]),
    ...(logs.stdout === '' ? [] : ['printed:', indented(logs.stdout)]),
    ...(logs.stderr === '' ? [] : ['stderr:', indented(logs.stderr)]),
    ...(truncated ? ['(the output was truncated at the limit)'] : []),
  ]
}

/** The calls of a program: when each began, measured from the start of the program, and how long it took. */
function timelineOf({ children = [], createdAt, startedAt }: ShownRun, columns: number): readonly string[] {
  if (children.length === 0) return []
  const start = Date.parse(startedAt ?? createdAt)
  const rows = children.map((call) => [
    `+${Math.max(0, Date.parse(call.createdAt) - start)} ms`,
    tookText(call.durationMs),
    stateOf(call),
    toolOf(call),
    call.id,
    call.errorCode ?? '',
  ])
  return ['calls:', formatTable(['Start', 'Took', 'State', 'Tool', 'Execution', 'Error'], rows, columns)]
}

const indented = (text: string): string => showInvisible(text.trimEnd()).replaceAll(/^/gm, '  ')

/** The counts of the queue and the state of each worker. */
export function queueText(
  { queued, waitingForApproval, running, oldestQueuedMs, workers }: QueueState,
  columns: number,
) {
  const oldest = oldestQueuedMs === null ? '' : ` (the oldest for ${tookText(oldestQueuedMs)})`
  const counts = `${queued} queued${oldest}, ${waitingForApproval} waiting for approval, ${running} running\n`
  if (workers.length === 0) return counts
  const rows = workers.map((each) => [
    each.worker,
    stateOfWorker(each),
    `${each.running} of ${each.slots}`,
    each.executors.join(' '),
    each.labels.join(' '),
    timeOf(each.lastSeenAt),
  ])
  const header = ['Worker', 'State', 'Running', 'Can run', 'Labels', 'Last seen (UTC)']
  return `${counts}\n${formatTable(header, rows, columns)}\n`
}

function stateOfWorker({ kind, alive, draining, takesWork, running }: WorkerState): string {
  const state = !alive
    ? 'lost'
    : draining
      ? 'draining'
      : running > 0
        ? 'busy'
        : takesWork
          ? 'idle'
          : 'takes no queued runs'
  return `${kind}, ${state}`
}

/** A part of a large output, with the option for the next part. */
export function resultText({ items, total, nextOffset }: ResultPage): string {
  const lines = items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
  const more = nextOffset === undefined ? [] : [`(${nextOffset} of ${total}; more: --offset ${nextOffset})`]
  return [...lines, ...more].map((line) => `${line}\n`).join('')
}

interface ResultPage {
  readonly items: readonly unknown[]
  readonly total: number
  readonly nextOffset?: number | undefined
}

/** The statistics of runs, an hour in a row. */
export function statisticsText({ hours, total, complete }: Statistics, columns: number): string {
  if (total.runs === 0) return 'No run is recorded in this time. Call a tool with: tooldex call TOOL\n'
  const rows = [...hours.map(({ from, ...counts }) => [timeOf(from), ...cellsOf(counts)]), ['all', ...cellsOf(total)]]
  const table = formatTable(['Hour (UTC)', 'Runs', 'Failed', 'p50', 'p95'], rows, columns)
  return `${table}\n${complete ? '' : 'only the newest runs were counted\n'}`
}

const cellsOf = ({ runs, failed, p50Ms, p95Ms }: RunCounts): string[] => [
  String(runs),
  String(failed),
  tookText(p50Ms === null ? null : Math.round(p50Ms)),
  tookText(p95Ms === null ? null : Math.round(p95Ms)),
]
