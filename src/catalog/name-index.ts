import { ambiguousName, isClientName, toClientName } from '../rules/tool-id.ts'

/** The ids of tools by their names: their own, and the short ones that clients show where they do not accept those. */
export class NameIndex {
  readonly #names = new Map<string, Set<string>>()
  /** The own names by the short ones; hashing names costs too much to be done before one is asked for. */
  readonly #ownNames = new Map<string, Set<string>>()
  readonly #unhashed = new Set<string>()

  add(name: string, id: string): void {
    insert(this.#names, name, id)
    if (!isClientName(name)) this.#unhashed.add(name)
  }

  delete(name: string, id: string): void {
    remove(this.#names, name, id)
    if (this.#names.has(name) || isClientName(name) || this.#unhashed.delete(name)) return
    remove(this.#ownNames, toClientName(name), name)
  }

  /** The accepted id itself, or else the only one with this name, or else with this client name. */
  find(idOrName: string, accept: (id: string) => boolean): string | undefined {
    for (const idsOf of [(name: string) => [name], this.#idsOf, this.#idsOfClientName]) {
      const [id, ...others] = [...idsOf(idOrName)].filter(accept)
      if (id !== undefined && others.length > 0) throw ambiguousName(idOrName, [id, ...others])
      if (id !== undefined) return id
    }
    return undefined
  }

  readonly #idsOf = (name: string): Iterable<string> => this.#names.get(name) ?? []

  readonly #idsOfClientName = (clientName: string): Iterable<string> => {
    for (const name of this.#unhashed) insert(this.#ownNames, toClientName(name), name)
    this.#unhashed.clear()
    return [...(this.#ownNames.get(clientName) ?? [])].flatMap((name) => [...this.#idsOf(name)])
  }

  /** The number of tools with a name. */
  countOf(name: string): number {
    return this.#names.get(name)?.size ?? 0
  }
}

function insert(map: Map<string, Set<string>>, name: string, id: string): void {
  const ids = map.get(name)
  if (ids === undefined) map.set(name, new Set([id]))
  else ids.add(id)
}

function remove(map: Map<string, Set<string>>, name: string, id: string): void {
  const ids = map.get(name)
  if (ids?.delete(id) && ids.size === 0) map.delete(name)
}
