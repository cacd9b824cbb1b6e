import type { SearchableTool } from '../contract/search.ts'
import { splitIdentifiers } from './split-identifiers.ts'

const offset = 0x811c9dc5 | 0
const prime = 0x01000193

/** Tools by exact name: a query that is a name or an id, up to case, spaces, dashes and underscores, means that tool. */
export class NameIndex {
  /** Positions by the hash of a spelling; a hit is looked at letter by letter. */
  readonly #positions = new Map<number, number | number[]>()

  add(position: number, tool: SearchableTool): void {
    const [name, id, full] = hashes(tool)
    this.#put(name, position)
    if (id !== name) this.#put(id, position)
    if (full !== name && full !== id) this.#put(full, position)
  }

  remove(position: number, tool: SearchableTool): void {
    for (const hash of new Set(hashes(tool))) {
      const left = asList(this.#positions.get(hash)).filter((other) => other !== position)
      if (left.length === 0) this.#positions.delete(hash)
      else this.#positions.set(hash, left)
    }
  }

  #put(hash: number, position: number): void {
    const known = this.#positions.get(hash)
    if (known === undefined) this.#positions.set(hash, position)
    else if (typeof known === 'number') this.#positions.set(hash, [known, position])
    else known.push(position)
  }

  find(query: string, toolAt: (position: number) => SearchableTool | undefined): ReadonlySet<number> {
    const name = normalizeName(query)
    const found = name === '' ? [] : asList(this.#positions.get(small(hashLetters(query, offset))))
    return new Set(found.filter((position) => isNamed(toolAt(position), name)))
  }
}

const asList = (known: number | number[] | undefined): readonly number[] =>
  typeof known === 'number' ? [known] : (known ?? [])

const isNamed = (tool: SearchableTool | undefined, name: string): boolean =>
  tool !== undefined && spellings(tool).some((spelling) => normalizeName(spelling) === name)

/** A name without what people write differently: case, spaces, dashes, underscores. */
const normalizeName = (text: string): string => text.toLowerCase().replace(/[\s_.:/@-]+/g, '')

/** What a query may say to mean exactly this tool. */
const spellings = ({ name, namespace, id }: SearchableTool): readonly string[] => [
  name,
  id,
  `${namespace ?? ''}${name}`,
  splitIdentifiers(name).join(''),
]

function hashes({ name, namespace, id }: SearchableTool): readonly [number, number, number] {
  const short = small(hashLetters(name, offset))
  const long = namespace ? small(hashLetters(name, hashLetters(namespace, offset))) : short
  return [short, small(hashLetters(id, offset)), long]
}

/** Numbers of this size are kept without a box of their own, which makes the map several times as fast. */
const small = (hash: number): number => hash & 0x3fffffff

/** Over letters and digits in lower case; of other scripts everything that is not a mark. */
function hashLetters(text: string, start: number): number {
  let hash = start
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index)
    if (code > 127) return hashAny(text, start)
    if (code >= 65 && code <= 90) code += 32
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) hash = Math.imul(hash ^ code, prime)
  }
  return hash
}

function hashAny(text: string, start: number): number {
  let hash = start
  for (const word of splitIdentifiers(text))
    for (let index = 0; index < word.length; index++) hash = Math.imul(hash ^ word.charCodeAt(index), prime)
  return hash
}
