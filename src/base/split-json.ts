import { yieldTurns } from './yield-turns.ts'

/** A JSON value in parts that are each fast to receive: the value without its long arrays, and those as JSON texts of pieces. */
export interface SplitJson {
  readonly rest: unknown
  readonly lists: readonly { readonly path: readonly string[]; readonly pieces: readonly string[] }[]
}

const pieceCharacters = 64 * 1024
// Bundles have their arrays on the second level.
const listDepth = 2

/** Separates the long arrays from a JSON value. */
export function splitJson(value: unknown): SplitJson {
  const lists: { path: readonly string[]; pieces: readonly string[] }[] = []
  const take = (each: unknown, path: readonly string[]): unknown => {
    if (typeof each !== 'object' || each === null || path.length > listDepth) return each
    if (Array.isArray(each)) {
      const pieces = toPieces(each)
      if (pieces.length < 2) return each
      lists.push({ path, pieces })
      return []
    }
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, take(inner, [...path, name])]))
  }
  return { rest: take(value, []), lists }
}

function toPieces(list: readonly unknown[]): readonly string[] {
  const pieces: string[] = []
  let piece: string[] = []
  let size = 0
  const flush = () => void (piece.length > 0 && pieces.push(`[${piece.join(',')}]`))
  for (const item of list) {
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
