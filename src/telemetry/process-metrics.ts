import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Semaphore } from '../base/semaphore.ts'
import type { Execution, QueueState, Swept, UnattendedEnd } from '../contract/execution.ts'
import type { LimitRefusal } from '../contract/policy.ts'
import type { Metrics, WorkspaceState } from '../contract/telemetry.ts'
import { WorkspaceSeries } from './workspace-series.ts'

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
