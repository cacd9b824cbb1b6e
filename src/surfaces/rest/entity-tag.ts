import { hash } from 'node:crypto'
import { TooldexError } from '../../base/errors.ts'

/** A tag for what is answered: of a tool its version and the time of its last step, of anything else a hash. */
export function entityTag(body: unknown, text: string): string {
  const { version, updatedAt } = (body ?? {}) as { version?: unknown; updatedAt?: unknown }
  if (typeof version === 'number' && typeof updatedAt === 'string') return `"${version}.${Date.parse(updatedAt)}"`
  return `W/"${hash('sha1', text, 'base64url')}"`
}

/** Whether the caller has exactly this already. */
export const isKnown = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((each) => weak(each) === weak(tag)))

const weak = (tag: string): string => tag.trim().replace(/^W\//, '')

/** The version in an If-Match, such as `"3"` or `"3.1731672000000"`. */
export function expectedVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const [, version] = /^"?(\d{1,9})(?:\.\d+)?"?$/.exec(header.trim()) ?? []
  if (version === undefined) throw new TooldexError('STALE', 'If-Match names no version of this tool.')
  return Number(version)
}
