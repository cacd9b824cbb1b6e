import type { NewExecution, QueueLimits } from '../../contract/execution.ts'

/** How many waited when they were last counted. */
export interface Waiting {
  readonly ofTool: number
  readonly ofCaller: number
  readonly all: number
}

// Only so much of the room that was seen is used before it is counted again: others fill it, too.
const share = 1 / 8
const believedMs = 1000
const maxKnown = 1000

/** Remembers how much room there was in the queue, so that not every call counts all that wait. */
export class QueueRoom {
  readonly #known = new Map<string, { left: number; readonly until: number }>()
  #leftOfAll = 0

  /** Whether a call fits without counting. */
  take(workspace: string, draft: NewExecution): boolean {
    const known = this.#known.get(keyOf(workspace, draft))
    if (known === undefined || known.left < 1 || this.#leftOfAll < 1 || performance.now() > known.until) return false
    known.left--
    this.#leftOfAll--
    return true
  }

  note(workspace: string, draft: NewExecution, { all, perTool, perCaller }: QueueLimits, waiting: Waiting): void {
    if (this.#known.size >= maxKnown) this.#known.clear()
    const left = Math.min(perTool - waiting.ofTool, perCaller - waiting.ofCaller) * share
    this.#known.set(keyOf(workspace, draft), { left, until: performance.now() + believedMs })
    this.#leftOfAll = (all - waiting.all) * share
  }
}

/** What waits for a worker and what waits for a person are bounded apart. */
export type QueueRooms = Readonly<Record<'queue' | 'approval', QueueRoom>>

const keyOf = (workspace: string, { toolName, callerId }: NewExecution): string =>
  JSON.stringify([workspace, toolName, callerId])
