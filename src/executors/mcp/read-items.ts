import { yieldTurns } from '../../base/yield-turns.ts'
import type { OfferResult } from '../../contract/mcp-server.ts'
import type { SourceItem, SourceManifest } from '../../contract/source.ts'
import type { Connection } from './connection.ts'
import { largeItems } from './message-threads.ts'

/** The limits of a list; a server may send endless pages. The characters are of all lists, which are stored and compared as a whole. */
const limits = { pages: 500, items: 10_000, characters: 4 * 1024 * 1024, itemCharacters: 1024 * 1024 }

/** The number of characters that may still be read, and of definitions that were not. */
interface Budget {
  characters: number
  leftOut: number
}

/** The lists of a server, with the key of the items in a result. */
const lists = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const

/** Reads all pages of a list, within the limits; a repeated cursor ends it. */
export async function readItems(
  connection: Connection,
  method: keyof typeof lists,
  signal: AbortSignal,
  budget: Budget = { characters: limits.characters, leftOut: 0 },
): Promise<readonly SourceItem[]> {
  const items: SourceItem[] = []
  const cursors = new Set<unknown>()
  const turn = yieldTurns(signal)
  let cursor: unknown
  let isFull = false
  for (let page = 0; page < limits.pages; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result = (await connection.request(method, { params, signal })) as Record<string, unknown>
    for (const text of largeItems(result) ?? textsOf(result[lists[method]])) {
      budget.characters -= text.length
      isFull ||= items.length >= limits.items || budget.characters < 0
      const item = !isFull && text.length <= limits.itemCharacters ? (JSON.parse(text) as SourceItem) : {}
      if (typeof item.name === 'string') items.push(item)
      else budget.leftOut++
      await turn()
    }
    cursor = result.nextCursor
    if (isFull) return items
    if (cursor === undefined || cursor === null || cursors.has(cursor)) return items
    cursors.add(cursor)
  }
  return items
}

/** A list of a server as its callers expect it: with the items that its message lacks. */
export async function withItems(result: OfferResult, signal: AbortSignal): Promise<OfferResult> {
  const { _meta, ...fields } = result as Readonly<Record<string, unknown>>
  const texts = largeItems({ _meta })
  const key = Object.values(lists).find((each) => Array.isArray(fields[each]))
  if (texts === undefined || key === undefined) return result
  const items: unknown[] = []
  const turn = yieldTurns(signal)
  for (const text of texts) {
    items.push(JSON.parse(text))
    await turn()
  }
  return { ...fields, [key]: items }
}

const maxInstructions = 32_000

/** The items as JSON texts, whose lengths are their costs. */
const textsOf = (items: unknown): readonly string[] =>
  Array.isArray(items)
    ? items.filter((item) => typeof item === 'object' && item !== null).map((item) => JSON.stringify(item))
    : []

/** Reads everything that a server offers. */
export async function readManifest(connection: Connection, signal: AbortSignal): Promise<SourceManifest> {
  const budget = { characters: limits.characters, leftOut: 0 }
  const listOf = async (capability: 'tools' | 'prompts' | 'resources', method: keyof typeof lists) =>
    connection.has(capability) ? readItems(connection, method, signal, budget) : []
  const tools = await listOf('tools', 'tools/list')
  const prompts = await listOf('prompts', 'prompts/list')
  const resources = await listOf('resources', 'resources/list')
  // Servers without templates may reject the request.
  const templates = await listOf('resources', 'resources/templates/list').catch((error: unknown) => {
    if (signal.aborted || connection.ended) throw error
    return []
  })
  const { serverInfo, instructions } = connection.about
  return {
    readAt: new Date().toISOString(),
    protocolVersion: connection.revision ?? null,
    serverInfo:
      serverInfo === undefined
        ? null
        : { name: serverInfo.name.slice(0, 200), version: serverInfo.version.slice(0, 100) },
    instructions: instructions?.slice(0, maxInstructions) ?? null,
    tools,
    prompts,
    resources,
    templates,
    ...(budget.leftOut === 0 ? {} : { leftOut: budget.leftOut }),
  }
}
