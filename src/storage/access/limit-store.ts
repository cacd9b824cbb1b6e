import { sql } from 'drizzle-orm'
import { Limit, type LimitCounter, type LimitRefusal, type LimitStore } from '../../contract/policy.ts'
import type { Caller, Condition } from '../../contract/stores.ts'
import { storableJson } from '../../rules/storable.ts'
import type { Db } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { limits } from '../schema-access.ts'
import { StatementBatcher } from '../statement-batcher.ts'
import { DatabaseDefinitionStore } from './definition-store.ts'
import {
  addLimitCounters,
  type CounterState,
  giveBackLimitCounts,
  readLimitCounters,
  takeLimitCounts,
  type Wanted,
} from './limit-counters.ts'

interface CountedCall {
  readonly workspace: string
  readonly counters: readonly LimitCounter[]
}

const batch = { atOnce: 1, maxItems: 200, maxWeight: 200, isRetriable: () => false }

/** Limits with their counters; the calls of one moment are counted in one statement. */
export class DatabaseLimitStore extends DatabaseDefinitionStore<Limit> implements LimitStore {
  readonly #db: Db
  readonly #calls: StatementBatcher<CountedCall, LimitRefusal | undefined>

  constructor(db: Db) {
    super(db, limits, Limit)
    this.#db = db
    this.#calls = new StatementBatcher((calls) => guard(() => this.#takeAll(calls)), batch)
  }

  override remove(caller: Caller, name: string, options?: Condition) {
    return transact(this.#db, async (db) => {
      await new DatabaseDefinitionStore(db, limits, Limit).remove(caller, name, options)
      await db.execute(sql`delete from limit_usage where workspace_id = ${caller.workspace} and limit_name = ${name}`)
    })
  }

  take(workspace: string, counters: readonly LimitCounter[]) {
    return this.#calls.do({ workspace, counters })
  }

  giveBack(workspace: string, counters: readonly LimitCounter[]) {
    return guard(() => giveBackLimitCounts(this.#db, toWanted([{ workspace, counters }])))
  }

  usage(workspace: string) {
    return guard(async () => readLimitCounters(this.#db, workspace, await this.list(workspace)))
  }

  async #takeAll(calls: readonly CountedCall[]): Promise<readonly (LimitRefusal | undefined)[]> {
    const wanted = toWanted(calls)
    let states = await takeLimitCounts(this.#db, wanted)
    const missing = wanted.filter((each) => !states.has(each.key))
    if (missing.length > 0) {
      await addLimitCounters(this.#db, missing)
      states = new Map([...states, ...(await takeLimitCounts(this.#db, missing))])
    }
    const refusals = calls.map((call) => assign(call, states))
    const unused = wanted.flatMap((each) => {
      const left = states.get(each.key)?.granted ?? 0
      return left > 0 ? [{ ...each, wants: left }] : []
    })
    if (unused.length > 0) await giveBackLimitCounts(this.#db, unused)
    return refusals
  }
}

/** One entry for each counter, with the number of calls that want it, in the order in which rows are locked. */
function toWanted(calls: readonly CountedCall[]): readonly Wanted[] {
  const byKey = new Map<string, Wanted>()
  for (const { workspace, counters } of calls)
    for (const { limit, subject } of counters) {
      const key = keyOf(workspace, limit.name, subject)
      const wants = (byKey.get(key)?.wants ?? 0) + 1
      byKey.set(key, { key, workspace, limit, subject, wants })
    }
  return [...byKey.values()]
}

const keyOf = (workspace: string, limit: string, subject: string): string => storableJson([workspace, limit, subject])

/** Gives a call its share of what was granted to its counters, or none where one of them has nothing left. */
function assign({ workspace, counters }: CountedCall, states: ReadonlyMap<string, CounterState>) {
  const own = counters.map((counter) => ({
    counter,
    state: states.get(keyOf(workspace, counter.limit.name, counter.subject)),
  }))
  const full = own.find(({ state }) => state !== undefined && state.granted < 1)
  if (full?.state !== undefined) return { ...full.counter, ...full.state.refusal }
  for (const { state } of own) if (state !== undefined) state.granted -= 1
  return undefined
}
