import { createHash } from 'node:crypto'
import { yieldTurns } from '../../base/yield-turns.ts'
import { type Expected, textTag, toolTag } from '../../contract/expected.ts'

/** A tag for what is answered: of a tool its version and the time of its last step, of anything else a hash. */
export async function entityTag(body: unknown, parts: readonly string[]): Promise<string> {
  const { version, updatedAt } = (body ?? {}) as { version?: unknown; updatedAt?: unknown }
  if (typeof version === 'number' && typeof updatedAt === 'string') return `"${toolTag({ version, updatedAt })}"`
  const [first = ''] = parts
  if (parts.length === 1) return `"${textTag(first)}"`
  const turn = yieldTurns()
  const hash = createHash('sha1')
  for (const part of parts) {
    hash.update(part)
    await turn()
  }
  return `"${hash.digest('base64url')}"`
}

/** Whether the caller has exactly this already. */
export const isKnown = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((each) => weak(each) === weak(tag)))

const weak = (tag: string): string => tag.trim().replace(/^W\//, '')

/** What an If-Match says: a version by itself, such as `"3"`, or else tags, of which one must hold. */
export function readExpected(header: string): Expected {
  const [, version] = /^"?([1-9]\d{0,8})"?$/.exec(header.trim()) ?? []
  return version === undefined ? header : Number(version)
}
