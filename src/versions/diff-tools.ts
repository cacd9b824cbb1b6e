import { toOneLine } from '../base/invisible-characters.ts'
import { sameJson, sameOrderedJson } from '../base/json-values.ts'
import { fromPointer } from '../base/problem.ts'
import type { ToolAnnotations } from '../contract/catalog.ts'
import { ToolContent } from '../contract/registry.ts'
import {
  type ChangeClass,
  changeClasses,
  type FieldChange,
  type SchemaChange,
  type ToolDiff,
} from '../contract/tool-diff.ts'
import { positionalArgumentNames } from '../rules/build-input-schema.ts'
import type { Side } from './comparison.ts'
import { diffLines } from './describe-diff.ts'
import { diffJson, findReorderedKeys, type JsonDifference, type KeyOrder } from './diff-json.ts'
import { diffSchemas } from './diff-schemas.ts'
import { showChange, showValue } from './schema-path.ts'

type Field = keyof ToolContent
type Compare<F extends Field> = (before: ToolContent[F], after: ToolContent[F]) => Partial<FieldChange>

/** The class of a change of each field for callers: another executor still has the same input and output. */
const rules: { readonly [F in Field]: ChangeClass | Compare<F> } = {
  name: 'breaking',
  namespace: 'breaking',
  displayName: 'wording',
  description: (before, after) => compareTexts('wording', before, after),
  summary: 'wording',
  notes: (before, after) => compareTexts('wording', before, after),
  tags: 'wording',
  categoryId: 'wording',
  examples: 'wording',
  exampleRequests: 'wording',
  externalRefs: 'wording',
  securitySummary: 'wording',
  icons: 'wording',
  _meta: 'wording',
  inputSchema: (before, after) => compareSchemas('input', before, after),
  outputSchema: (before, after) => compareSchemas('output', before, after),
  inputModes: (before, after) => compareModes(before, after),
  outputModes: (before, after) => compareModes(before, after),
  annotations: (before, after) => ({ class: isMoreDangerous(before ?? {}, after ?? {}) ? 'breaking' : 'wording' }),
  executorType: 'compatible',
  executorConfig: (before, after) => withClass(compareConfigs(before, after)),
  scriptContent: (before, after) => compareTexts('compatible', before, after),
}

/** The differences between two states of a tool, field by field, with their class for callers. */
export function diffTools(before: ToolContent, after: ToolContent): ToolDiff {
  const positional = comparePositional(before, after)
  const fields = (Object.keys(ToolContent.shape) as Field[]).flatMap((field) =>
    diffField(field, before, after).map((change) =>
      field === positional?.field ? withChanges(change, [positional.change]) : change,
    ),
  )
  return { class: worstOf(fields) ?? 'none', fields }
}

function diffField<F extends Field>(field: F, before: ToolContent, after: ToolContent): FieldChange[] {
  const [was, is] = [before[field] ?? null, after[field] ?? null]
  if (sameOrderedJson(was, is)) return []
  const reordered = findReorderedKeys(was, is, maxReordered).map(toReordering)
  if (sameJson(was, is)) return [withChanges({ field, class: 'wording', before: was, after: is }, reordered)]
  const rule: ChangeClass | Compare<F> = rules[field]
  const found = typeof rule === 'string' ? { class: rule } : rule(before[field], after[field])
  const change: FieldChange = { field, class: 'wording', before: was, after: is, ...found }
  return [change.changes === undefined ? change : withChanges(change, reordered)]
}

/** Maximum number of listed objects with reordered keys in one field. */
const maxReordered = 20

/** The order of keys has no meaning in JSON, but is visible to a reader. */
const toReordering = ({ pointer, keys }: KeyOrder): SchemaChange => ({
  pointer,
  class: 'wording',
  message: `the keys${pointer === '' ? '' : ` of ${pointer}`} are in another order: ${keys.join(', ')}`,
})

/** Values without a flag are assigned to other arguments if the order of the positional arguments changes. */
function comparePositional(before: ToolContent, after: ToolContent) {
  const [was, is] = [positionalArgumentNames(before), positionalArgumentNames(after)]
  const [kept, now] = [was.filter((name) => is.includes(name)), is.filter((name) => was.includes(name))]
  if (kept.every((name, index) => now[index] === name)) return undefined
  const field: Field = after.executorType === 'cli' ? 'executorConfig' : 'inputSchema'
  const pointer = field === 'inputSchema' ? '/properties' : '/args'
  const message = `tooldex call takes values without a flag in another order: ${is.join(', ')}`
  return { field, change: { pointer, class: 'breaking', message } as const }
}

/** A change of a field with more changes in it; its class is the worst of them. */
function withChanges(change: FieldChange, more: readonly SchemaChange[]): FieldChange {
  const changes = [...(change.changes ?? []), ...more]
  return { ...change, class: worstOf([change, ...changes]) ?? change.class, changes }
}

/** The worst class; undefined for no parts. */
function worstOf(parts: readonly { readonly class: ChangeClass }[]): ChangeClass | undefined {
  return changeClasses.findLast((name) => parts.some((part) => part.class === name))
}

const sameMeaning: SchemaChange = { pointer: '', class: 'wording', message: 'written differently, means the same' }

/** Equivalent schemas that are written differently make a version too, so the diff contains them. */
function compareSchemas(side: Side, before: ToolContent['inputSchema'], after: ToolContent['inputSchema']) {
  const changes = diffSchemas(before ?? {}, after ?? {}, side)
  return withClass(changes.length === 0 ? [sameMeaning] : changes)
}

const withClass = (changes: SchemaChange[]) => ({ class: worstOf(changes) ?? ('wording' as const), changes })

function compareTexts(name: ChangeClass, before: string | null, after: string | null) {
  return { class: name, text: diffLines(before ?? '', after ?? '').join('\n') }
}

/** Another order of the same modes is a change of wording only. */
function compareModes(before: readonly string[] | undefined, after: readonly string[] | undefined) {
  const [was, is] = [before ?? [], after ?? []]
  if (was.some((mode) => !is.includes(mode))) return { class: 'breaking' as const }
  return { class: is.some((mode) => !was.includes(mode)) ? ('compatible' as const) : ('wording' as const) }
}

/** Whether a tool is no longer read-only or newly destructive; missing hints have the defaults of MCP. */
function isMoreDangerous(before: ToolAnnotations, after: ToolAnnotations): boolean {
  const reads = ({ readOnlyHint = false }: ToolAnnotations) => readOnlyHint
  const destroys = ({ destructiveHint = true }: ToolAnnotations) => destructiveHint
  return (reads(before) && !reads(after)) || (!destroys(before) && destroys(after))
}

/** Maximum number of listed differences of one config. */
const maxDifferences = 100

/** A part of an executor's config that is visible to callers, and the condition under which its change can break a call. */
interface VisiblePart {
  readonly path: RegExp
  readonly breaks: (difference: JsonDifference) => boolean
}

const always = () => true
const isLower = ({ before, after }: JsonDifference) =>
  typeof before === 'number' && typeof after === 'number' && after < before
const isGone = ({ after }: JsonDifference) => after === undefined

const visibleParts: readonly VisiblePart[] = [
  // The shape of the result.
  { path: /^\/response(\/|$)/, breaks: always },
  // The size and the time that a call may take.
  { path: /^\/(maxBytes|timeoutMs|timeout|limits\/[^/]+)$/, breaks: isLower },
  // The values that are accepted.
  { path: /^\/paths(\/|$)/, breaks: ({ after }) => after !== undefined },
  { path: /^\/dashes(\/|$)/, breaks: isGone },
  { path: /^\/args\/\d+\/root$/, breaks: ({ after }) => after !== undefined },
]

/** The differences of an executor's config, classed by their effect on callers. */
function compareConfigs(before: unknown, after: unknown): SchemaChange[] {
  return diffJson(before, after, maxDifferences).map((difference) => ({
    pointer: difference.pointer,
    class: classOf(difference),
    message: describeDifference(difference),
  }))
}

function classOf(difference: JsonDifference): ChangeClass {
  const breaks = visibleParts.some((part) => part.path.test(difference.pointer) && part.breaks(difference))
  return breaks ? 'breaking' : 'compatible'
}

function describeDifference(difference: JsonDifference): string {
  const name = toOneLine(nameOf(difference.pointer))
  if (!('before' in difference)) return `${name} was added: ${showValue(difference.after)}`
  if (!('after' in difference)) return `${name} was removed: ${showValue(difference.before)}`
  return `${name}: ${showChange(difference.before, difference.after)}`
}

/** A pointer as a path: `headers.Accept`, `args[0].name`. */
const nameOf = (pointer: string): string =>
  fromPointer(pointer).reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`),
    '',
  ) || 'the config'
