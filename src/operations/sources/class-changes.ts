import { sameJson } from '../../base/json-values.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { SourceItem } from '../../contract/source.ts'
import type { ChangeClass, ToolDiff } from '../../contract/tool-diff.ts'
import type { ItemChange } from '../../rules/source-drift.ts'
import { findSuspiciousIn } from '../../rules/suspicious-text.ts'
import { diffToolInThread } from '../checks/tool-threads.ts'

/** A change with its effect on callers, and the signs of an attack in its new definition. */
export interface ClassedChange extends ItemChange {
  readonly class: ChangeClass
  readonly suspicious: readonly string[]
  /** The differences of a changed tool, field by field. */
  readonly diff?: ToolDiff | undefined
}

/** Classes changes by their effect on callers. */
export async function classChanges(
  changes: readonly ItemChange[],
  signal?: AbortSignal,
): Promise<readonly ClassedChange[]> {
  const classed: ClassedChange[] = []
  const turn = yieldTurns(signal)
  for (const change of changes) {
    const { before, after } = change
    const suspicious = after === undefined ? [] : findSuspiciousIn(after)
    const isTool = change.kind === 'tools' && before !== undefined && after !== undefined
    const diff = isTool ? await diffToolInThread(toContent(before), toContent(after), signal) : undefined
    classed.push({ ...change, class: classOf(change, diff), suspicious, ...(diff === undefined ? {} : { diff }) })
    await turn()
  }
  return classed
}

function classOf({ kind, change, before, after }: ItemChange, diff: ToolDiff | undefined): ChangeClass {
  if (change === 'removed') return 'breaking'
  if (change === 'added') return 'compatible'
  if (diff !== undefined) return diff.class === 'none' ? 'wording' : diff.class
  if (kind === 'instructions') return 'wording'
  return sameJson(withoutWording(before), withoutWording(after)) ? 'wording' : 'breaking'
}

const withoutWording = (item: SourceItem = {}) => {
  const { title: _title, description: _description, icons: _icons, _meta, annotations: _annotations, ...rest } = item
  return rest
}

/** A tool of a server in the form that is compared. */
function toContent(item: SourceItem): ToolContent {
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = item
  const object = (value: unknown) =>
    (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return {
    name: String(name),
    displayName: String(title ?? name),
    description: String(description ?? ''),
    tags: [],
    inputSchema: object(inputSchema),
    outputSchema: object(outputSchema),
    annotations: object(annotations),
    icons: (Array.isArray(icons) ? icons : []) as ToolContent['icons'],
    _meta: object(_meta),
    executorType: 'mcp',
    executorConfig: {},
  } as Partial<ToolContent> as ToolContent
}
