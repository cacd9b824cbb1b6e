import { createHash } from 'node:crypto'
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
export function readExpected(header: string): Expected {
  const [, version] = /^"?([1-9]\d{0,8})"?$/.exec(header.trim()) ?? []
  return version === undefined ? header : Number(version)
}
