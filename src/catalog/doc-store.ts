import * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { toOneLine } from '../base/invisible-characters.ts'
import { omitUndefined } from '../base/json-values.ts'
import type { CatalogTool } from '../contract/catalog.ts'
import { DetailLevel, DocEntry, docLimits, type SchemaInfo, type ToolDoc, ToolExample } from '../contract/tool-doc.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { readSchemaParameters } from '../json-schema/read-parameters.ts'
import { cutExample, cutText } from '../rules/cut-text.ts'
import { formatToolId, parseToolId } from '../rules/tool-id.ts'
import { readInput, toolIdOf } from './parse-tool.ts'

/** The source of the tools that documents describe. */
export interface DocStoreOptions {
  /** The tool of an id, or null; its errors are passed on. */
  readonly resolve?: (id: string) => CatalogTool | null
}

/** Documentation of tools, read at different levels of detail. */
export class DocStore {
  readonly #docs = new Map<string, DocEntry>()
  readonly #resolve: (id: string) => CatalogTool | null

  constructor({ resolve = () => null }: DocStoreOptions = {}) {
    this.#resolve = resolve
  }

  /** Stores a document; it replaces the previous one and its examples. */
  registerDoc(id: string, doc: z.input<typeof DocEntry>): void {
    const entry = readInput(DocEntry, doc, 'invalid document')
    const summary = cut(entry.summary, docLimits.summary)
    const notes = cut(entry.notes, docLimits.notes)
    this.#docs.set(keyOf(id), omitUndefined({ ...entry, summary, notes, examples: entry.examples.map(cutExample) }))
  }

  /** Replaces the examples. */
  registerExamples(id: string, examples: readonly ToolExample[]): void {
    const checked = readInput(z.array(ToolExample), examples, 'invalid examples')
    const before = this.#docs.get(keyOf(id)) ?? { externalRefs: [] }
    this.#docs.set(keyOf(id), { ...before, examples: checked.map(cutExample) })
  }

  /** The documentation of a tool at a level. */
  describe(id: string, level: DetailLevel): ToolDoc {
    if (!DetailLevel.safeParse(level).success) throw badLevel(level)
    const { tool, doc } = this.#find(id)
    const summary = cutText(doc?.summary ?? tool?.summary ?? tool?.description ?? '', docLimits.summary)
    if (level === 'summary') return { summary }
    if (tool === null) throw new TooldexError('TOOL_NOT_FOUND', `tool required for schema/full level: ${toOneLine(id)}`)
    const more = level === 'full' ? fullFields(doc) : {}
    return { summary, ...schemaFields(tool), ...more }
  }

  /** The first `max` examples of a tool; all if absent, none if 0. */
  listExamples(id: string, max = Number.POSITIVE_INFINITY): readonly ToolExample[] {
    if (!(max >= 0)) throw new TooldexError('INPUT_INVALID', 'max must not be negative')
    return this.#find(id).doc?.examples.slice(0, max) ?? []
  }

  #find(id: string): { tool: CatalogTool | null; doc: DocEntry | undefined } {
    const key = keyOf(id)
    const tool = this.#resolve(key)
    const doc = this.#docs.get(key) ?? (tool === null ? undefined : this.#docs.get(toolIdOf(tool)))
    if (tool === null && doc === undefined)
      throw new TooldexError('TOOL_NOT_FOUND', `tool not found: ${toOneLine(key)}`)
    return { tool, doc }
  }
}

const keyOf = (id: string) => formatToolId(parseToolId(id))

const cut = (text: string | undefined, max: number) => (text === undefined ? undefined : cutText(text, max))

function schemaFields(tool: CatalogTool): Partial<ToolDoc> {
  const { annotations, inputModes = [], outputModes = [], securitySummary } = tool
  return omitUndefined({
    tool,
    inputModes,
    outputModes,
    securitySummary,
    annotations: annotations && { idempotentHint: false, readOnlyHint: false, ...annotations },
    schemaInfo: readSchemaInfo(tool.inputSchema),
  })
}

function fullFields(doc: DocEntry | undefined): Partial<ToolDoc> {
  const { notes, examples = [], externalRefs = [] } = doc ?? {}
  return omitUndefined({ notes, examples, externalRefs })
}

function badLevel(level: unknown): TooldexError {
  const hint = `The levels are ${DetailLevel.options.join(', ')}.`
  return new TooldexError('INPUT_INVALID', `invalid detail level: ${toOneLine(String(level)).slice(0, 100)}`, { hint })
}

/** The parameters of an input schema, as far as they can be derived; undefined if there are none. */
export function readSchemaInfo(schema: JsonSchema): SchemaInfo | undefined {
  const { required, defaults, types } = readSchemaParameters(schema)
  if (required.size + defaults.size + types.size === 0) return undefined
  return {
    required: [...required],
    defaults: Object.fromEntries([...defaults].map(([name, { value }]) => [name, value])),
    types: Object.fromEntries([...types].map(([name, found]) => [name, [...found]])),
  }
}
