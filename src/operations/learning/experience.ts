import type { Caller } from '../../contract/stores.ts'

/** One thing learned: this query led to these tools, and the calls succeeded. */
export interface Experience {
  readonly query: string
  readonly toolIds: readonly string[]
}

/** What came since the last look; with `anew` it is everything, and what was known before is to be dropped. */
export interface ExperienceNews {
  readonly anew: boolean
  readonly experiences: readonly Experience[]
}

/** Where experience is kept. */
export interface ExperienceKeeper {
  /** What to call it. */
  readonly place: string
  note(experience: Experience): Promise<void>
  /** Everything, oldest first. */
  all(): Promise<readonly Experience[]>
  /** What others noted too; the first look finds everything. */
  news(): Promise<ExperienceNews>
  /** Forgets everything; how much that was. */
  forget(caller: Caller): Promise<number>
}
