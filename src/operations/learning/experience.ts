import type { Caller } from '../../contract/stores.ts'

/** One learned fact: a query led to these tools, and the calls succeeded. */
export interface Experience {
  readonly query: string
  readonly toolIds: readonly string[]
}

/** The entries since the last read; with `anew` they are all entries and replace the previous ones. */
export interface ExperienceNews {
  readonly anew: boolean
  readonly experiences: readonly Experience[]
}

/** A store of experience. */
export interface ExperienceKeeper {
  /** Its name for users. */
  readonly place: string
  note(experience: Experience): Promise<void>
  /** All entries, oldest first. */
  all(): Promise<readonly Experience[]>
  /** The new entries, including those of other processes; the first read returns all. */
  news(): Promise<ExperienceNews>
  /** Deletes all entries and returns their number. */
  forget(caller: Caller): Promise<number>
}
