import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ensurePrivateFolder } from '../../base/home-files.ts'
import type { Caller } from '../../contract/stores.ts'

const maxLines = 5000

/** Experience in a file of JSON lines, for use without a database. */
export class ExperienceFile implements ExperienceKeeper {
  readonly place: string
  #read = false

  constructor(file: string) {
    this.place = file
  }

  /** Written synchronously: the process may exit right after a call. */
  async note(experience: Experience): Promise<void> {
    ensurePrivateFolder(dirname(this.place))
    appendFileSync(this.place, `${JSON.stringify(experience)}\n`, { mode: 0o600 })
    const all = readExperiences(this.place)
    if (all.length <= maxLines) return
    const recent = all.slice(-maxLines / 2).map((line) => JSON.stringify(line))
    writeFileSync(this.place, `${recent.join('\n')}\n`, { mode: 0o600 })
  }

  async all(): Promise<readonly Experience[]> {
    return readExperiences(this.place)
  }

  /** Only one process uses the file, so nothing new appears after the first read. */
  async news(): Promise<ExperienceNews> {
    if (this.#read) return { anew: false, experiences: [] }
    this.#read = true
    return { anew: true, experiences: readExperiences(this.place) }
  }

  async forget(): Promise<number> {
    const count = readExperiences(this.place).length
    rmSync(this.place, { force: true })
    this.#read = false
    return count
  }
}

function readExperiences(file: string): readonly Experience[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const { query, toolIds } = JSON.parse(line)
      return typeof query === 'string' && Array.isArray(toolIds) ? [{ query, toolIds: toolIds.map(String) }] : []
    } catch {
      return []
    }
  })
}

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
