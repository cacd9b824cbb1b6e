import type { ExecutionSummary } from '../../contract/execution.ts'
import { isFinal } from '../../contract/is-final.ts'

interface RunPage {
  readonly items: readonly ExecutionSummary[]
  readonly nextCursor?: string | undefined
}

/** How runs are looked at. */
interface Look {
  readonly list: (query: { since?: string; limit: number; cursor?: string | undefined }) => Promise<RunPage>
  readonly get: (id: string) => Promise<ExecutionSummary>
}

const pageSize = 100
const most = { pages: 20, open: 50 }

/** Finds out which runs are new, and which of the known ones stand otherwise, by looking again and again. */
export class NewRuns {
  /** How each was shown: those that have not ended, and the newest. */
  readonly #known = new Map<string, ExecutionSummary>()
  #newest = ''

  constructor(shown: readonly ExecutionSummary[]) {
    for (const run of shown) this.#note(run)
  }

  /** What has changed since the last look, oldest first. */
  async look({ list, get }: Look): Promise<readonly ExecutionSummary[]> {
    const found = await this.#listNew(list)
    const seen = new Set(found.map(({ id }) => id))
    const open = [...this.#known.values()].filter(({ id, status }) => !isFinal(status) && !seen.has(id))
    for (const { id } of open.slice(0, most.open)) found.push(await get(id))
    const changed = found.filter((run) => !isSame(run, this.#known.get(run.id)))
    for (const run of changed) this.#note(run)
    for (const { id, status, createdAt } of this.#known.values())
      if (isFinal(status) && createdAt < this.#newest) this.#known.delete(id)
    return changed.sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1))
  }

  async #listNew(list: Look['list']): Promise<ExecutionSummary[]> {
    const found: ExecutionSummary[] = []
    let cursor: string | undefined
    for (let page = 0; page < most.pages; page++) {
      const since = this.#newest === '' ? {} : { since: this.#newest }
      const { items, nextCursor } = await list({ limit: pageSize, cursor, ...since })
      found.push(...items)
      if (nextCursor === undefined) break
      cursor = nextCursor
    }
    return found
  }

  #note(run: ExecutionSummary): void {
    this.#known.set(run.id, run)
    if (run.createdAt > this.#newest) this.#newest = run.createdAt
  }
}

const isSame = (run: ExecutionSummary, known: ExecutionSummary | undefined): boolean =>
  known !== undefined && known.status === run.status && known.reason === run.reason
