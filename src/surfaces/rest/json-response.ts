import { createHash } from 'node:crypto'
import { isObject } from '../../base/json-values.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Expected } from '../../contract/stores.ts'
import { textTag, toolTag } from '../../rules/expected.ts'

/** The entity tag of a response: version and update time of a tool, otherwise a hash. */
export async function entityTag(body: unknown, parts: readonly string[]): Promise<string> {
  const { version, updatedAt } = (body ?? {}) as { version?: unknown; updatedAt?: unknown }
  if (typeof version === 'number' && typeof updatedAt === 'string') return `"${toolTag({ version, updatedAt })}"`
  const [first = ''] = parts
  const { warnings, ...resource } = (body ?? {}) as { warnings?: unknown }
  // The warnings of a write are not part of the resource.
  if (warnings !== undefined && !Array.isArray(body)) return `"${textTag(JSON.stringify(resource))}"`
  if (parts.length === 1) return `"${textTag(first)}"`
  const turn = yieldTurns()
  const hash = createHash('sha1')
  for (const part of parts) {
    hash.update(part)
    await turn()
  }
  return `"${hash.digest('base64url')}"`
}

/** Whether If-None-Match contains the tag. */
export const isKnown = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((each) => weak(each) === weak(tag)))

const weak = (tag: string): string => tag.trim().replace(/^W\//, '')

/** Parses If-Match: a version such as `"3"`, or tags of which one must match. */
export function parseIfMatch(header: string): Expected {
  const [, version] = /^"?([1-9]\d{0,8})"?$/.exec(header.trim()) ?? []
  return version === undefined ? header : Number(version)
}

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
export function streamJsonParts(parts: readonly string[]): ReadableStream<Uint8Array> {
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
