import { isObject } from '../../base/json-values.ts'
import { yieldTurns } from '../../base/yield-turns.ts'

const maxShortArray = 20
const partCharacters = 64 * 1024

/** Serializes a response in parts: long arrays yield to other requests in between. */
export async function toJsonParts(body: unknown): Promise<readonly string[]> {
  if (!hasLongArray(body)) return [JSON.stringify(body)]
  const turn = yieldTurns()
  const parts: string[] = []
  let part = ''
  for (const piece of piecesOf(body)) {
    part += piece
    if (part.length < partCharacters) continue
    parts.push(part)
    part = ''
    await turn()
  }
  return [...parts, part]
}

type Fields = Readonly<Record<string, unknown>>

const isLong = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > maxShortArray

const hasLongArray = (body: unknown): body is Fields => isObject(body) && Object.values(body).some(isLong)

function* piecesOf(body: Fields): Generator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    if (!isLong(value)) {
      yield JSON.stringify(value)
      continue
    }
    let open = '['
    for (const item of value) {
      yield `${open}${JSON.stringify(item) ?? 'null'}`
      open = ','
    }
    yield ']'
  }
  yield '}'
}

/** The parts as a stream, each in a turn of its own. */
export function streamOf(parts: readonly string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const rest = parts.values()
  return new ReadableStream({
    pull(controller) {
      const { value, done } = rest.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
  })
}
