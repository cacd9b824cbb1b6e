import { TooldexError } from '../base/errors.ts'
import { toOneLine } from '../base/visible-text.ts'
import type { SearchDoc } from '../contract/search.ts'
import { ambiguousName } from '../rules/tool-id.ts'
import { hashOf } from './page-cursor.ts'
import { toolStatusOf } from './tool-filters.ts'
import type { CatalogEntry } from './with-backend.ts'

/** The entries of a catalog by id and by name. */
export class EntryTable {
  readonly #entries = new Map<string, CatalogEntry>()
  readonly #idsByName = new Map<string, Set<string>>()
  readonly #inactive = new Set<string>()
  #docs: readonly SearchDoc[] | undefined
  #mark: string | undefined

  get entries(): ReadonlyMap<string, CatalogEntry> {
    return this.#entries
  }

  /** Whether no tool is a draft, disabled or deprecated. */
  get allActive(): boolean {
    return this.#inactive.size === 0
  }

  /** The entry of an id; throws if there is none. */
  require(id: string): CatalogEntry {
    const entry = this.#entries.get(id)
    if (entry === undefined) throw new TooldexError('TOOL_NOT_FOUND', `tool not found: ${toOneLine(id)}`)
    return entry
  }

  /** The entry of an id, or of a name that only one tool has. */
  find(id: string): CatalogEntry | undefined {
    const exact = this.#entries.get(id)
    if (exact !== undefined) return exact
    const ids = [...(this.#idsByName.get(id) ?? [])]
    if (ids.length > 1) throw ambiguousName(id, ids)
    return ids[0] === undefined ? undefined : this.#entries.get(ids[0])
  }

  /** The number of tools with a name. */
  countOf(name: string): number {
    return this.#idsByName.get(name)?.size ?? 0
  }

  set(id: string, entry: CatalogEntry): void {
    const ids = this.#idsByName.get(entry.tool.name) ?? new Set()
    this.#idsByName.set(entry.tool.name, ids.add(id))
    this.#entries.set(id, entry)
    if (toolStatusOf(entry.tool) === 'ACTIVE') this.#inactive.delete(id)
    else this.#inactive.add(id)
    this.#forget()
  }

  delete(id: string): void {
    const name = this.require(id).tool.name
    const ids = this.#idsByName.get(name)
    ids?.delete(id)
    if (ids?.size === 0) this.#idsByName.delete(name)
    this.#entries.delete(id)
    this.#inactive.delete(id)
    this.#forget()
  }

  /** The search documents, sorted by id, rebuilt only after a change. */
  docs(): readonly SearchDoc[] {
    const sorted = () => Array.from(this.#entries.values(), ({ doc }) => doc).sort((a, b) => (a.id < b.id ? -1 : 1))
    this.#docs ??= Object.freeze(sorted())
    return this.#docs
  }

  /** A hash that two tables share exactly if they contain the same tools. */
  mark(): string {
    const marks = () => Array.from(this.#entries, ([id, entry]) => `${id} ${entry.mark}`).sort()
    this.#mark ??= hashOf(marks())
    return this.#mark
  }

  #forget(): void {
    this.#docs = undefined
    this.#mark = undefined
  }
}
