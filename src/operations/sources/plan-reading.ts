import type { SourceChange, SourceManifest, StoredSource } from '../../contract/source.ts'
import { acceptChanges, compareManifests, readingHash } from '../../rules/source-drift.ts'
import type { SourceEdit } from './change-planned.ts'
import { type ClassedChange, classChanges } from './class-changes.ts'

/**
 * The change of a source after its server was read. The first definitions are accepted with the approval of the server. Later
 * ones are held, or accepted as far as the trust rule allows; the accepted ones stay in use.
 */
export async function planReading(
  source: StoredSource,
  seen: SourceManifest,
  signal?: AbortSignal,
): Promise<SourceEdit> {
  const { manifest, trust, refused } = source
  if (manifest === null) {
    const facts = { tools: seen.tools.length, prompts: seen.prompts.length, resources: seen.resources.length }
    return { action: 'read', facts, change: { manifest: seen, seen: null, waiting: 0, refused: {} } }
  }
  if (source.seen !== null && (await readingHash(source.seen, signal)) === (await readingHash(seen, signal)))
    return undefined
  const changes = await classChanges(await compareManifests(manifest, seen, signal), signal)
  if (changes.length === 0) {
    const isSame = manifest.leftOut === seen.leftOut
    if (source.seen === null && isSame) return undefined
    const rest = isSame ? {} : { manifest: acceptChanges(manifest, seen, []) }
    return { action: 'drift.end', change: { ...rest, seen: null, waiting: 0, refused: {} } }
  }
  const accepted = trust === 'trusted' ? changes.filter(isHarmless) : []
  const held = changes.filter((change) => !accepted.includes(change))
  const now = acceptChanges(manifest, seen, accepted)
  const stillRefused = Object.fromEntries(held.flatMap(({ key, hash }) => (refused[key] === hash ? [[key, hash]] : [])))
  const waiting = trust === 'pinned' ? 0 : held.filter(({ key, hash }) => stillRefused[key] !== hash).length
  const change: SourceChange = {
    ...(accepted.length === 0 ? {} : { manifest: now }),
    seen: held.length === 0 ? null : seen,
    waiting,
    refused: stillRefused,
  }
  return { action: 'drift', facts: { accepted: namesOf(accepted), held: namesOf(held) }, change }
}

// A server decides how much it changes.
const maxNamed = 100

const namesOf = (changes: readonly ClassedChange[]): readonly string[] => {
  const names = changes.slice(0, maxNamed).map(nameOf)
  return changes.length > maxNamed ? [...names, `and ${changes.length - maxNamed} more`] : names
}

const isHarmless = ({ class: effect, suspicious }: ClassedChange): boolean =>
  effect !== 'breaking' && suspicious.length === 0

/** A change in an audit entry or a log: `changed tools/add (wording; description has hidden characters)`. */
export const nameOf = ({ change, key, class: effect, suspicious }: ClassedChange): string =>
  `${change} ${key.slice(0, 200)} (${[effect, ...suspicious].join('; ')})`
