import { hashJson } from '../base/json-text.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import { type SourceItem, type SourceItemKind, type SourceManifest, sourceItemKinds } from '../contract/source.ts'

/** A definition of a source that differs between two readings of its server. */
export interface ItemChange {
  /** Such as `tools/add`; the instructions of the server are `instructions`. */
  readonly key: string
  readonly kind: SourceItemKind | 'instructions'
  readonly change: 'added' | 'changed' | 'removed'
  readonly before?: SourceItem | undefined
  readonly after?: SourceItem | undefined
  /** Of the new definition; empty where it was removed. */
  readonly hash: string
}

const keyFields = { tools: 'name', prompts: 'name', resources: 'uri', templates: 'uriTemplate' } as const

const keyOf = (kind: SourceItemKind, item: SourceItem): string => `${kind}/${String(item[keyFields[kind]])}`

interface KeyedItem {
  readonly kind: ItemChange['kind']
  readonly item: SourceItem
}

/** The definitions of a manifest by key; of several with one key, the first counts. */
function itemsOf(manifest: SourceManifest): ReadonlyMap<string, KeyedItem> {
  const items = new Map<string, KeyedItem>()
  for (const kind of sourceItemKinds)
    for (const item of manifest[kind]) {
      const key = keyOf(kind, item)
      if (!items.has(key)) items.set(key, { kind, item })
    }
  const { instructions } = manifest
  if (instructions !== null) items.set('instructions', { kind: 'instructions', item: { instructions } })
  return items
}

/** The definitions that differ; the order of keys and of definitions does not count. */
export async function compareManifests(
  accepted: SourceManifest,
  seen: SourceManifest,
  signal?: AbortSignal,
): Promise<readonly ItemChange[]> {
  const [before, after] = [itemsOf(accepted), itemsOf(seen)]
  const changes: ItemChange[] = []
  const turn = yieldTurns(signal)
  for (const [key, { kind, item }] of after) {
    await turn()
    const known = before.get(key)
    const hash = hashJson(item)
    if (known === undefined) changes.push({ key, kind, change: 'added', after: item, hash })
    else if (hashJson(known.item) !== hash)
      changes.push({ key, kind, change: 'changed', before: known.item, after: item, hash })
  }
  for (const [key, { kind, item }] of before)
    if (!after.has(key)) changes.push({ key, kind, change: 'removed', before: item, hash: '' })
  return changes
}

/** The accepted manifest with some of the changes applied. */
export function acceptChanges(
  accepted: SourceManifest,
  seen: SourceManifest,
  changes: readonly ItemChange[],
): SourceManifest {
  const byKey = new Map(changes.map((change) => [change.key, change]))
  const merge = (kind: SourceItemKind): readonly SourceItem[] => {
    const kept = accepted[kind].flatMap((item) => {
      const change = byKey.get(keyOf(kind, item))
      return change === undefined ? [item] : change.after === undefined ? [] : [change.after]
    })
    const added = changes.filter((each) => each.kind === kind && each.change === 'added')
    return [...kept, ...added.map(({ after }) => after as SourceItem)]
  }
  const { protocolVersion, serverInfo, readAt, leftOut } = seen
  const instructions = byKey.has('instructions') ? seen.instructions : accepted.instructions
  const [tools, prompts, resources, templates] = [
    merge('tools'),
    merge('prompts'),
    merge('resources'),
    merge('templates'),
  ]
  const rest = leftOut === undefined ? {} : { leftOut }
  return { readAt, protocolVersion, serverInfo, instructions, tools, prompts, resources, templates, ...rest }
}

/** The hash of a whole reading, by which a decision names what was decided on. */
export async function readingHash(manifest: SourceManifest, signal?: AbortSignal): Promise<string> {
  const { readAt: _readAt, tools, prompts, resources, templates, ...about } = manifest
  const turn = yieldTurns(signal)
  const hashes: string[] = [hashJson(about)]
  for (const list of [tools, prompts, resources, templates]) {
    hashes.push(String(list.length))
    for (const item of list) {
      await turn()
      hashes.push(hashJson(item))
    }
  }
  return hashJson(hashes)
}
