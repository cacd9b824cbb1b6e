import type { OperationContext } from '../../operations/operation.ts'
import { createLocalClient } from '../../operations/registry-client/local-client.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'
import { type ListedTool, type ListMode, listedWithIds } from './list-tools.ts'

/** The tools that MCP clients are offered, wherever those are and run. */
export interface McpTools {
  /** Searches, describes and calls them. */
  readonly client: RegistryClient
  readonly mode: ListMode
  /** Whether the list can change while a client is connected. */
  readonly live: boolean
  /** The tools listed beside the three, or in classic mode all; in the same order every time. */
  list(): Promise<readonly ListedTool[]>
  /** The listed tool of a name. */
  find(name: string): Promise<ListedTool | undefined>
  /** Calls back after each change of the list. */
  onChange(listener: () => void): void
  /** How long the calls that run now may still take. */
  maxMs(): number
}

/** The tools of this process. */
export function toolsOfContext(context: OperationContext, mode: ListMode, live: boolean): McpTools {
  const { catalog, runner } = context
  return {
    client: createLocalClient(context),
    mode,
    // Registered tools come and go while clients are connected.
    live: live || context.registry !== undefined,
    list: async () => listedWithIds(catalog, mode),
    find: async (name) => listedWithIds(catalog, mode).find(({ tool }) => tool.name === name),
    onChange: (listener) => catalog.onChange(listener),
    maxMs: () => runner.maxMs(),
  }
}

/** The tools of configs here beside those of a registry: a name means the tool of the config first. */
export function combineTools(local: McpTools, registry: McpTools, client: RegistryClient): McpTools {
  return {
    client,
    mode: local.mode,
    live: true,
    async list() {
      const own = await local.list()
      const taken = new Set(own.map(({ tool }) => tool.name))
      return [...own, ...(await registry.list()).filter(({ tool }) => !taken.has(tool.name))]
    },
    find: async (name) => (await local.find(name)) ?? registry.find(name),
    onChange(listener) {
      local.onChange(listener)
      registry.onChange(listener)
    },
    maxMs: () => Math.max(local.maxMs(), registry.maxMs()),
  }
}
