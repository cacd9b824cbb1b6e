import { toClientName } from '../rules/client-name.ts'
import { ambiguousName } from '../rules/tool-id.ts'

/** The ids of tools by their names: their own, and the short ones that clients show where they do not accept those. */
export class NameIndex {
  readonly #names = new Map<string, Set<string>>()
  readonly #clientNames = new Map<string, Set<string>>()

  add(name: string, id: string): void {
    insert(this.#names, name, id)
    const clientName = toClientName(name)
    if (clientName !== name) insert(this.#clientNames, clientName, id)
  }

  delete(name: string, id: string): void {
    remove(this.#names, name, id)
    remove(this.#clientNames, toClientName(name), id)
  }

  /** The accepted id itself, or else the only one with this name, or else with this client name. */
  find(idOrName: string, accept: (id: string) => boolean): string | undefined {
    for (const ids of [[idOrName], this.#names.get(idOrName), this.#clientNames.get(idOrName)]) {
      const [id, ...others] = [...(ids ?? [])].filter(accept)
      if (id !== undefined && others.length > 0) throw ambiguousName(idOrName, [id, ...others])
      if (id !== undefined) return id
    }
    return undefined
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
