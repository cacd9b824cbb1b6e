import { BoundedMap } from '../../base/bounded-map.ts'
import type { NewExecution, QueueLimits } from '../../contract/execution.ts'

/** The numbers of waiting runs at the last count. */
export interface Waiting {
  readonly ofTool: number
  readonly ofCaller: number
  readonly all: number
}

// Only this share of the counted room is used before the next count, because other processes fill it, too.
const share = 1 / 8
const validMs = 1000
const maxEntries = 1000

/** Caches the free room of the queue, so that not every call counts all waiting runs. */
export class QueueRoom {
  readonly #counts = new BoundedMap<string, { left: number; readonly until: number }>(maxEntries)
  #leftOfAll = 0

  /** Whether a call fits without counting. */
  take(workspace: string, draft: NewExecution): boolean {
    const count = this.#counts.get(keyOf(workspace, draft))
    if (count === undefined || count.left < 1 || this.#leftOfAll < 1 || performance.now() > count.until) return false
    count.left--
    this.#leftOfAll--
    return true
  }

  note(workspace: string, draft: NewExecution, { all, perTool, perCaller }: QueueLimits, waiting: Waiting): void {
    const left = Math.min(perTool - waiting.ofTool, perCaller - waiting.ofCaller) * share
    this.#counts.set(keyOf(workspace, draft), { left, until: performance.now() + validMs })
    this.#leftOfAll = (all - waiting.all) * share
  }
}

/** Separate limits for runs that wait for a worker and runs that wait for approval. */
export type QueueRooms = Readonly<Record<'queue' | 'approval', QueueRoom>>

const keyOf = (workspace: string, { toolName, callerId }: NewExecution): string =>
  JSON.stringify([workspace, toolName, callerId])
