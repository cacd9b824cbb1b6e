import { isDeepStrictEqual } from 'node:util'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import type { McpDefinition } from '../../contract/llm.ts'
import { getForModel, listForModel } from '../../operations/registry/definitions.ts'
import { currentKey } from '../../operations/registry/keys.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'
import { listSources } from '../../operations/server/list-sources.ts'
import { parseToolId, toClientName } from '../../rules/tool-id.ts'
import type { ListMode } from './list-mode.ts'
import { type ListedTool, toRegistered } from './list-tools.ts'
import { type McpTools, soleClient, toApprovalUrl } from './mcp-tools.ts'
import { isMetaTool } from './meta-tools.ts'

/** Options for the tool list of a registry. */
export interface ClientToolsOptions {
  readonly mode: ListMode
  readonly codeMode?: boolean | undefined
  /** The interval of polling for changes, until the signal is aborted; no polling if absent. */
  readonly pollMs?: number | undefined
  readonly signal: AbortSignal
  /** The URL of the server; undefined for a database of this process. */
  readonly origin?: string | undefined
}

// The default limit of a server for one call.
const maxMs = 3_600_000
const pageSize = 500
const maxTries = 3

/** The tools of a registry, read through its operations, on a server or in a database. */
export function toolsOfClient(
  client: RegistryClient,
  { mode, codeMode = false, pollMs, signal, origin }: ClientToolsOptions,
): McpTools {
  const listeners = new Set<() => void>()
  const isListed = mode.classic || mode.pinned.length > 0
  let last: readonly ListedTool[] | undefined
  const { counted, running } = countRequests(client)
  const read = async () => {
    last = isListed ? await readList(counted, mode) : []
    return last
  }
  // While the registry is unavailable, clients keep the last list.
  const list = () => read().catch((thrown: unknown) => last ?? Promise.reject(thrown))
  const find = (name: string, tools = last) => tools?.find(({ tool }) => tool.name === name)
  let [reported, revision]: [typeof last, string?] = [undefined]
  const checkForChanges = async () => {
    const now = (await client.invoke(listSources, {})).revision
    if (now === revision) return
    const before = reported ?? last
    reported = await read()
    revision = now
    if (before !== undefined && !isDeepStrictEqual(reported, before)) for (const listener of listeners) listener()
  }
  if (isListed && pollMs !== undefined) poll(checkForChanges, pollMs, signal)
  return {
    client: counted,
    mode,
    exchange: soleClient(),
    isShared: false,
    isRecorded: true,
    hasPrompts: true,
    mayApprove: async () => (await client.invoke(currentKey, {})).scopes.includes('admin'),
    approvalUrl: (id) => (origin === undefined ? undefined : toApprovalUrl(origin, id)),
    codeMode,
    live: true,
    list,
    find: async (name) => find(name) ?? find(name, await list()),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    maxMs: () => (running() > 0 ? maxMs : 0),
  }
}

/** The same client with the number of its open requests: the first one may wait until a database is open. */
function countRequests(client: RegistryClient): { counted: RegistryClient; running: () => number } {
  let running = 0
  const during = <Result>(request: Promise<Result>): Promise<Result> => {
    running++
    return request.finally(() => running--)
  }
  const counted: RegistryClient = {
    invoke: (operation, input, controls) => during(client.invoke(operation, input, controls)),
    follow: client.follow.bind(client),
    call: (call, controls) => during(client.call(call, controls)),
    close: () => client.close(),
  }
  return { counted, running: () => running }
}

/** Checks periodically; a check that fails is made up for by the next. */
function poll(check: () => Promise<void>, pollMs: number, signal: AbortSignal): void {
  const timer = setInterval(() => void check().catch(() => {}), pollMs)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}

async function readList(client: RegistryClient, { classic, pinned }: ListMode): Promise<readonly ListedTool[]> {
  const defined = classic ? await readAll(client) : await readPinned(client, pinned)
  const counts = new Map<string, number>()
  for (const { name } of defined) counts.set(name, (counts.get(name) ?? 0) + 1)
  // Tools that share a name are listed by their names for models, which are unique.
  const listed = defined.map(({ id, name, definition }): ListedTool => {
    const listedName = counts.get(name) === 1 ? name : definition.name
    return { id, tool: { ...toRegistered({ ...definition, name }), name: toClientName(listedName) } }
  })
  return listed.filter(({ tool }) => classic || !isMetaTool(tool.name))
}

/** A tool with its name without the namespace. */
interface DefinedTool {
  readonly id: string
  readonly name: string
  readonly definition: McpDefinition
}

/** Reads all tools page by page; starts again if they change in between. */
async function readAll(client: RegistryClient): Promise<readonly DefinedTool[]> {
  for (let tries = 1; ; tries++) {
    try {
      const all: DefinedTool[] = []
      let cursor: string | undefined
      do {
        const page = await client.invoke(listForModel, { format: 'mcp', limit: pageSize, cursor })
        all.push(...page.tools.map(({ id, definition }) => toDefined(id, definition as McpDefinition)))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return all
    } catch (thrown) {
      if (toTooldexError(thrown).code !== 'CURSOR_INVALID' || tries === maxTries) throw thrown
    }
  }
}

/** The pinned tools that exist now; others may be registered later. */
async function readPinned(client: RegistryClient, pinned: readonly string[]): Promise<readonly DefinedTool[]> {
  const found = pinned.map(async (name): Promise<readonly DefinedTool[]> => {
    try {
      const { id, definition } = await client.invoke(getForModel, { name, format: 'mcp' })
      return [toDefined(id, definition as McpDefinition)]
    } catch (thrown) {
      if (thrown instanceof TooldexError && thrown.code === 'TOOL_NOT_FOUND') return []
      throw thrown
    }
  })
  return (await Promise.all(found)).flat()
}

const toDefined = (id: string, definition: McpDefinition): DefinedTool => ({
  id,
  name: bareName(id) ?? definition.name,
  definition,
})

/** The name of a tool without its namespace; undefined if the id is invalid. */
function bareName(id: string): string | undefined {
  try {
    return parseToolId(id).name
  } catch {
    return undefined
  }
}
