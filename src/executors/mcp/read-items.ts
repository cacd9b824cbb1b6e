import { yieldTurns } from '../../base/yield-turns.ts'
import type { SourceItem, SourceManifest } from '../../contract/source.ts'
import type { Connection } from './connection.ts'
import { largeItems } from './message-threads.ts'

/** The limits of a list; a server may send endless pages. */
const limits = { pages: 500, items: 10_000, characters: 32 * 1024 * 1024, itemCharacters: 1024 * 1024 }

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
): Promise<readonly SourceItem[]> {
  const items: SourceItem[] = []
  const cursors = new Set<unknown>()
  const turn = yieldTurns(signal)
  let cursor: unknown
  let characters = 0
  for (let page = 0; page < limits.pages; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result = (await connection.request(method, { params, signal })) as Record<string, unknown>
    for (const text of largeItems(result) ?? textsOf(result[lists[method]])) {
      characters += text.length
      if (items.length >= limits.items || characters > limits.characters) return items
      if (text.length <= limits.itemCharacters) items.push(JSON.parse(text) as SourceItem)
      await turn()
    }
    cursor = result.nextCursor
    if (cursor === undefined || cursor === null || cursors.has(cursor)) return items
    cursors.add(cursor)
  }
  return items
}

const maxInstructions = 32_000

/** The items as JSON texts, whose lengths are their costs. */
const textsOf = (items: unknown): readonly string[] =>
  Array.isArray(items)
    ? items.filter((item) => typeof item === 'object' && item !== null).map((item) => JSON.stringify(item))
    : []

/** Reads everything that a server offers. */
export async function readManifest(connection: Connection, signal: AbortSignal): Promise<SourceManifest> {
  const listOf = async (capability: 'tools' | 'prompts' | 'resources', method: keyof typeof lists) =>
    connection.has(capability) ? readItems(connection, method, signal) : []
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
  }
}
