import { createHash } from 'node:crypto'
import { TooldexError } from './errors.ts'
import { isObject } from './json-values.ts'
import { toPointer } from './problem.ts'
import { yieldTurns } from './yield-turns.ts'

/** A longer JSON text is neither parsed nor serialized on the main thread. */
export const maxParsedHere = 64 * 1024

/** A large JSON value as its text; worker threads parse it, the main thread only forwards it. */
export class JsonText {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

/** The value of a short JSON text; a long one stays a `JsonText`. */
export const fromJsonText = (json: string): unknown =>
  json.length > maxParsedHere ? new JsonText(json) : JSON.parse(json)

/** A hash of a JSON value that ignores the order of keys: a client may send the same request in any order. */
export const hashJson = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('hex')

const sortKeys = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value

/** A JSON value in parts that are each fast to receive: the value without its long arrays, and those as JSON texts of pieces. */
export interface SplitJson {
  readonly rest: unknown
  readonly lists: readonly { readonly path: readonly string[]; readonly pieces: readonly string[] }[]
}

const pieceCharacters = 64 * 1024
// Bundles have their arrays on the second level.
const listDepth = 2
// Each part is received in one turn.
const maxPartValues = 20_000

/** Separates the long arrays from a JSON value; rejects a part, which is an item or the rest, with too many values. */
export function splitJson(value: unknown): SplitJson {
  const lists: { path: readonly string[]; pieces: readonly string[] }[] = []
  const take = (each: unknown, path: readonly string[]): unknown => {
    if (typeof each !== 'object' || each === null || path.length > listDepth) return each
    if (Array.isArray(each)) {
      const pieces = toPieces(each, path)
      if (pieces.length < 2) return each
      lists.push({ path, pieces })
      return []
    }
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, take(inner, [...path, name])]))
  }
  const rest = take(value, [])
  requireFewValues(rest, [])
  return { rest, lists }
}

function requireFewValues(value: unknown, path: readonly PropertyKey[]): void {
  let count = 0
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) open.push(inner)
    if (++count <= maxPartValues) continue
    const where = path.length === 0 ? 'The JSON without its long arrays' : `The part at ${toPointer(path)}`
    throw new TooldexError('TOO_LARGE', `${where} has more than ${maxPartValues} values.`, {
      hint: 'Send fewer values at once.',
    })
  }
}

function toPieces(list: readonly unknown[], path: readonly string[]): readonly string[] {
  const pieces: string[] = []
  let piece: string[] = []
  let size = 0
  const flush = () => void (piece.length > 0 && pieces.push(`[${piece.join(',')}]`))
  for (const [index, item] of list.entries()) {
    requireFewValues(item, [...path, index])
    const text = JSON.stringify(item)
    piece.push(text)
    size += text.length
    if (size < pieceCharacters) continue
    flush()
    piece = []
    size = 0
  }
  flush()
  return pieces
}

/** The value again, in turns with other requests. */
export async function joinJson({ rest, lists }: SplitJson, signal?: AbortSignal): Promise<unknown> {
  const turn = yieldTurns(signal)
  const root = { value: rest }
  for (const { path, pieces } of lists) {
    const list = ['value', ...path].reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], root)
    for (const piece of pieces) {
      ;(list as unknown[]).push(...(JSON.parse(piece) as unknown[]))
      await turn()
    }
  }
  return root.value
}
