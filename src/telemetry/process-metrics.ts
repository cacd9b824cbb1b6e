import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Semaphore } from '../base/semaphore.ts'
import type { Execution, QueueState, Swept, UnattendedEnd } from '../contract/execution.ts'
import { type LimitRefusal, limitMeasures } from '../contract/policy.ts'
import type { LimitState, Metrics, WorkspaceState } from '../contract/telemetry.ts'

/** The maximum number of workspaces with series; the least recently used one restarts at zero, as after a restart. */
const maxWorkspaces = 1000

/** The Prometheus metrics of this process. */
export class ProcessMetrics implements Metrics {
  readonly #registry = new Registry()
  readonly #workspaces = new BoundedMap<string, WorkspaceSeries>(maxWorkspaces)
  readonly #swept: Counter<'what'>
  readonly #pruned: Counter

  constructor({ slots, version }: { slots: readonly Semaphore[]; version: string }) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    const about = {
      name: 'tooldex_info',
      help: 'The version of Tooldex that is running.',
      labelNames: ['version'],
      registers,
    }
    new Gauge(about).set({ version }, 1)
    new Gauge({
      name: 'tooldex_slots',
      help: 'Slots of this process, for processes and for remote tools, and the runs that wait for one, by state.',
      labelNames: ['state'],
      registers,
      collect() {
        for (const state of ['busy', 'free', 'waiting'] as const)
          this.set(
            { state },
            slots.reduce((sum, each) => sum + each[state], 0),
          )
      },
    })
    this.#swept = new Counter({
      name: 'tooldex_swept_total',
      help: 'Runs without a live worker that this process ended (lost, expired) or requeued (retried).',
      labelNames: ['what'],
      registers,
    })
    for (const what of ['lost', 'retried', 'expired']) this.#swept.inc({ what }, 0)
    this.#pruned = new Counter({ name: 'tooldex_pruned_total', help: 'Old runs that this process deleted.', registers })
  }

  started(_execution: Execution, workspace: string): (ended?: Execution) => void {
    const series = this.#of(workspace)
    series.begin()
    return (ended) => series.end(ended)
  }

  endedQuietly(end: UnattendedEnd): void {
    this.#of(end.workspace).count(end)
  }

  swept({ lost, retried, expired }: Swept): void {
    this.#swept.inc({ what: 'lost' }, lost.length)
    this.#swept.inc({ what: 'retried' }, retried.length)
    this.#swept.inc({ what: 'expired' }, expired.length)
  }

  pruned(count: number): void {
    this.#pruned.inc(count)
  }

  refused(workspace: string, refusal: LimitRefusal): void {
    this.#of(workspace).refuse(refusal)
  }

  async render(workspace: string, queue: QueueState, names?: ReadonlySet<string>, state?: WorkspaceState) {
    const parts = await Promise.all([this.#registry.metrics(), this.#of(workspace).render(queue, names, state)])
    return parts.join('\n')
  }

  #of(workspace: string): WorkspaceSeries {
    return this.#workspaces.take(workspace, () => new WorkspaceSeries())
  }
}

/** The maximum number of tools with series of their own; each adds about twenty lines to a response. */
const maxTools = 200
const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** The metrics of the runs of one workspace. */
class WorkspaceSeries {
  readonly #registry = new Registry()
  readonly #tools = new LabelValues(maxTools)
  readonly #codes = new LabelValues(maxTools)
  readonly #limitNames = new LabelValues(maxTools)
  readonly #running = this.#gauge('tooldex_executions_running', 'Runs in progress in this process.')
  readonly #waits = new Histogram({
    name: 'tooldex_queue_wait_seconds',
    help: 'Time in the queue, of runs that had to wait.',
    buckets: seconds,
    registers: [this.#registry],
  })
  readonly #durations = new Histogram({
    name: 'tooldex_execution_duration_seconds',
    help: 'Duration of runs, by tool.',
    labelNames: ['tool'],
    buckets: seconds,
    registers: [this.#registry],
  })
  readonly #ended = this.#counter('tooldex_executions_total', 'Runs that ended, by tool and state.', ['tool', 'status'])
  readonly #failures = this.#counter('tooldex_execution_failures_total', 'Runs that did not succeed, by error code.', [
    'code',
  ])
  readonly #isolation = this.#counter('tooldex_execution_isolation_total', 'Runs that ended, by isolation level.', [
    'isolation',
  ])
  readonly #queue = this.#gauge('tooldex_queue_depth', 'Runs of the workspace in the database, by state.', ['state'])
  readonly #oldest = this.#gauge('tooldex_queue_oldest_seconds', 'Waiting time of the oldest queued run.')

  readonly #refused = this.#counter('tooldex_limit_refusals_total', 'Calls that a limit did not allow.', [
    'limit',
    'measure',
  ])
  readonly #limits = this.#gauge('tooldex_limit_max', 'Maximum of a limit.', ['limit', 'measure'])
  readonly #used = this.#gauge('tooldex_limit_used', 'Present use of a limit, of all replicas together.', [
    'limit',
    'subject',
    'measure',
  ])

  readonly #sources = this.#gauge('tooldex_sources', 'MCP servers that are sources of tools, by state.', ['state'])
  readonly #waiting = this.#gauge(
    'tooldex_source_changes_waiting',
    'Changed definitions of MCP servers that wait for a decision.',
  )

  begin(): void {
    this.#running.inc()
  }

  end(ended: Execution | undefined): void {
    this.#running.dec()
    if (ended === undefined) return
    const { durationMs, isolation, createdAt, startedAt, attempt } = ended
    const tool = this.count(ended)
    if (durationMs !== null) this.#durations.observe({ tool }, durationMs / 1000)
    if (isolation !== null) this.#isolation.inc({ isolation })
    const waitedMs = startedAt === null ? 0 : Date.parse(startedAt) - Date.parse(createdAt)
    if (attempt === 1 && waitedMs > 0) this.#waits.observe(waitedMs / 1000)
  }

  /** Counts a run that ended in any process; returns the label of its tool. */
  count({ toolName, status, errorCode }: Pick<Execution, 'toolName' | 'status' | 'errorCode'>): string {
    const tool = this.#tools.of(toolName)
    this.#ended.inc({ tool, status })
    if (status !== 'SUCCESS') this.#failures.inc({ code: this.#codes.of(errorCode ?? status) })
    return tool
  }

  refuse({ limit, measure }: LimitRefusal): void {
    this.#refused.inc({ limit: this.#limitNames.of(limit.name), measure })
  }

  /** With names, the series of other tools are left out. */
  async render(queue: QueueState, names?: ReadonlySet<string>, state: WorkspaceState = {}): Promise<string> {
    this.#showLimits(state.limits ?? { limits: [], usage: [] })
    this.#showSources(state.sources ?? [])
    const { queued, waitingForApproval, running, oldestQueuedMs } = queue
    this.#queue.set({ state: 'queued' }, queued)
    this.#queue.set({ state: 'approval' }, waitingForApproval)
    this.#queue.set({ state: 'running' }, running)
    this.#oldest.set((oldestQueuedMs ?? 0) / 1000)
    const text = await this.#registry.metrics()
    if (names === undefined) return text
    const isVisible = (line: string) => {
      const tool = toolOf(line)
      return tool === undefined || tool === otherValue || names.has(tool)
    }
    return text.split('\n').filter(isVisible).join('\n')
  }

  #showSources(sources: NonNullable<WorkspaceState['sources']>): void {
    this.#sources.reset()
    for (const { state } of sources) this.#sources.inc({ state })
    this.#waiting.set(sources.reduce((sum, { waiting }) => sum + waiting, 0))
  }

  #showLimits({ limits, usage }: LimitState): void {
    this.#limits.reset()
    this.#used.reset()
    const maxima = new Map(limits.map((limit) => [limit.name, limit]))
    const measuresOf = (name: string) => limitMeasures.filter((measure) => maxima.get(name)?.[measure] !== undefined)
    for (const limit of limits)
      for (const measure of measuresOf(limit.name))
        this.#limits.set({ limit: limit.name, measure }, limit[measure] ?? 0)
    for (const { limit, subject, used } of usage.slice(0, maxTools))
      for (const measure of measuresOf(limit)) this.#used.set({ limit, subject, measure }, used[measure])
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #gauge<Label extends string>(name: string, help: string, labelNames: Label[] = []): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] })
  }
}

/** The tool label of a line; the text format escapes backslashes, quotes and line breaks. */
function toolOf(line: string): string | undefined {
  const [, escaped] = line.startsWith('#') ? [] : (/[{,]tool="((?:[^"\\]|\\.)*)"/.exec(line) ?? [])
  return escaped?.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
}

/** Bounds the number of series: after `max` different values, all others share one label. */
export class LabelValues {
  readonly #max: number
  readonly #values = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  of(value: string): string {
    if (this.#values.has(value)) return value
    if (this.#values.size >= this.#max) return otherValue
    this.#values.add(value)
    return value
  }
}

/** The label of all values beyond the limit; no tool can have this name. */
export const otherValue = '(other)'
