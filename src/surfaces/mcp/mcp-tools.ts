import type { ProcessContext } from '../../operations/operation.ts'
import { createLocalClient, type RegistryClient } from '../../operations/registry-client/registry-client.ts'
import type { ListMode } from './list-mode.ts'
import { type ListedTool, listedWithIds } from './list-tools.ts'

/** The tools offered to MCP clients, local or remote. */
export interface McpTools {
  /** Searches, describes and calls the tools. */
  readonly client: RegistryClient
  readonly mode: ListMode
  /** Whether the list can change while a client is connected. */
  readonly live: boolean
  /** The tools listed beside the meta tools, or in classic mode all, in a stable order. */
  list(): Promise<readonly ListedTool[]>
  /** Finds a listed tool by name. */
  find(name: string): Promise<ListedTool | undefined>
  /** Calls back after each change of the list. */
  onChange(listener: () => void): void
  /** The remaining time limit of the running calls. */
  maxMs(): number
}

/** The tools of this process. */
export function toolsOfContext(context: ProcessContext, mode: ListMode, live: boolean): McpTools {
  const { catalog, runner } = context
  return {
    client: createLocalClient(context),
    mode,
    // Registered tools change while clients are connected.
    live: live || context.registry !== undefined,
    list: () => listedWithIds(context, mode),
    find: async (name) => (await listedWithIds(context, mode)).find(({ tool }) => tool.name === name),
    onChange: (listener) => catalog.onChange(listener),
    maxMs: () => runner.maxMs(),
  }
}

/** Combines the tools of local configs and of a registry; a shared name resolves to the tool of the config. */
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
