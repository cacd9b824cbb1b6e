import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { StoredSource } from '../../contract/source.ts'
import { acceptChanges, compareManifests, type ItemChange, readingHash } from '../../rules/source-drift.ts'
import { defineOperation } from '../operation.ts'
import { changePlanned, type SourceEdit } from './change-planned.ts'
import { findSource, type SourceContext, SourceDetail, toDetail } from './source-view.ts'

const tag = 'sources'
const needs = ['catalog', 'registry', 'sources'] as const
const input = z.strictObject({
  name: z.string(),
  items: z
    .array(z.string().max(2000))
    .max(10_000)
    .optional()
    .describe('The changed definitions, such as tools/read_file; all that wait if absent.'),
  reading: z
    .string()
    .max(64)
    .optional()
    .describe('The hash of the reading that was shown; rejected if there is a later one.'),
})
type Decision = z.output<typeof input>

/** Accepts changed definitions. */
export const acceptChangesOf = defineOperation({
  name: 'sources.accept',
  summary: 'Accept changed definitions of a source; they are in use from then on.',
  scope: 'admin',
  needs,
  http: { method: 'post', path: '/sources/{name}/accept', tag },
  input,
  output: SourceDetail,
  handle: (decision, context) => decide(context, decision, planAcceptance),
})

/** Refuses changed definitions. */
export const refuseChangesOf = defineOperation({
  name: 'sources.refuse',
  summary:
    'Refuse changed definitions of a source; the accepted ones stay in use, and the refused ones no longer wait.',
  scope: 'admin',
  needs,
  http: { method: 'post', path: '/sources/{name}/refuse', tag },
  input,
  output: SourceDetail,
  handle: (decision, context) => decide(context, decision, planRefusal),
})

type Plan = (
  source: StoredSource,
  changes: { selected: readonly ItemChange[]; others: readonly ItemChange[] },
) => SourceEdit

async function decide(context: SourceContext, decision: Decision, plan: Plan): Promise<SourceDetail> {
  const { name } = decision
  const { registry, caller } = context
  await findSource(context, name)
  const parts = { stores: registry.stores, caller }
  await changePlanned(parts, name, async (source) => plan(source, await select(source, decision)))
  await context.catalog.syncRegistry?.()
  return toDetail(context, await findSource(context, name))
}

async function select(source: StoredSource, { items, reading }: Decision) {
  const { name, manifest, seen, refused } = source
  if (manifest === null || seen === null)
    throw new TooldexError('NOT_FOUND', `No definition of the source '${name}' has changed.`, {
      hint: 'Read its server again, then decide on the changes that it shows.',
    })
  if (reading !== undefined && reading !== (await readingHash(seen)))
    throw new TooldexError('STALE', 'The server was read again since these changes were shown.', {
      hint: 'Read the source, and decide on the changes that it shows.',
    })
  const changes = await compareManifests(manifest, seen)
  const keys = new Set(changes.map(({ key }) => key))
  const unknown = items?.find((item) => !keys.has(item))
  if (unknown !== undefined)
    throw new TooldexError('NOT_FOUND', `${unknown.slice(0, 200)} has not changed.${didYouMean(unknown, keys)}`, {
      hint: 'Read the source to see its changes.',
    })
  const isSelected = ({ key, hash }: ItemChange) => items?.includes(key) ?? refused[key] !== hash
  return { selected: changes.filter(isSelected), others: changes.filter((change) => !isSelected(change)) }
}

const planAcceptance: Plan = (source, { selected, others }) => {
  if (selected.length === 0) return undefined
  const { manifest, seen, refused } = source as StoredSource & { manifest: object; seen: object }
  return {
    action: 'accept',
    facts: { items: selected.map(({ key }) => key) },
    change: {
      manifest: acceptChanges(manifest, seen, selected),
      seen: others.length === 0 ? null : seen,
      ...remaining(source, others, refused),
    },
  }
}

const planRefusal: Plan = (source, { selected, others }) => {
  if (selected.length === 0) return undefined
  const refused = { ...source.refused, ...Object.fromEntries(selected.map(({ key, hash }) => [key, hash])) }
  return {
    action: 'refuse',
    facts: { items: selected.map(({ key }) => key) },
    change: remaining(source, [...selected, ...others], refused),
  }
}

/** The decisions on the changes that are left, and the number of those without one. */
function remaining({ trust }: StoredSource, left: readonly ItemChange[], refused: StoredSource['refused']) {
  const isRefused = ({ key, hash }: ItemChange) => refused[key] === hash
  const waiting = trust === 'pinned' ? 0 : left.filter((change) => !isRefused(change)).length
  return { waiting, refused: Object.fromEntries(left.filter(isRefused).map(({ key, hash }) => [key, hash])) }
}
