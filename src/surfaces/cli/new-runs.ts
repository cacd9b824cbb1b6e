import type { ExecutionSummary } from '../../contract/execution.ts'
import { isFinal } from '../../rules/is-final.ts'

interface RunPage {
  readonly items: readonly ExecutionSummary[]
  readonly nextCursor?: string | undefined
}

/** The queries for runs. */
interface RunQueries {
  readonly list: (query: { since?: string; limit: number; cursor?: string | undefined }) => Promise<RunPage>
  readonly get: (id: string) => Promise<ExecutionSummary>
}

const pageSize = 100
const limits = { pages: 20, open: 50 }

/** Detects new runs and changed states by polling. */
export class NewRuns {
  /** The last printed state of the unfinished runs and of the newest. */
  readonly #lastStates = new Map<string, ExecutionSummary>()
  #newest = ''

  constructor(printed: readonly ExecutionSummary[]) {
    for (const run of printed) this.#record(run)
  }

  /** Returns the runs that changed since the last poll, oldest first. */
  async poll({ list, get }: RunQueries): Promise<readonly ExecutionSummary[]> {
    const found = await this.#listNew(list)
    const seen = new Set(found.map(({ id }) => id))
    const open = [...this.#lastStates.values()].filter(({ id, status }) => !isFinal(status) && !seen.has(id))
    for (const { id } of open.slice(0, limits.open)) found.push(await get(id))
    const changed = found.filter((run) => !isSame(run, this.#lastStates.get(run.id)))
    for (const run of changed) this.#record(run)
    for (const { id, status, createdAt } of this.#lastStates.values())
      if (isFinal(status) && createdAt < this.#newest) this.#lastStates.delete(id)
    return changed.sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1))
  }

  async #listNew(list: RunQueries['list']): Promise<ExecutionSummary[]> {
    const found: ExecutionSummary[] = []
    let cursor: string | undefined
    for (let page = 0; page < limits.pages; page++) {
      const since = this.#newest === '' ? {} : { since: this.#newest }
      const { items, nextCursor } = await list({ limit: pageSize, cursor, ...since })
      found.push(...items)
      if (nextCursor === undefined) break
      cursor = nextCursor
    }
    return found
  }

  #record(run: ExecutionSummary): void {
    this.#lastStates.set(run.id, run)
    if (run.createdAt > this.#newest) this.#newest = run.createdAt
  }
}

const isSame = (run: ExecutionSummary, last: ExecutionSummary | undefined): boolean =>
  last !== undefined && last.status === run.status && last.reason === run.reason
