import type { ProcessContext } from '../../operations/operation.ts'
import { createLocalClient, type RegistryClient } from '../../operations/registry-client/registry-client.ts'
import { workspaceOffers } from '../../operations/upstreams/workspace-offers.ts'
import type { ApprovalOptions } from './approvals.ts'
import { type ClientExchange, MemoryExchanges } from './client-rounds.ts'
import type { ListMode } from './list-mode.ts'
import { type ListedTool, listedWithIds } from './list-tools.ts'

/** The tools offered to MCP clients, local or remote. */
export interface McpTools extends ApprovalOptions {
  /** Searches, describes and calls the tools. */
  readonly client: RegistryClient
  readonly mode: ListMode
  readonly exchange: ClientExchange
  /** Whether other callers use the same server. */
  readonly isShared: boolean
  /** Whether calls are recorded, so that they can continue as tasks. */
  readonly isRecorded: boolean
  /** Whether there may be prompts of upstreams. */
  readonly hasPrompts: boolean
  /** Whether the tool that runs programs is listed. */
  readonly codeMode: boolean
  /** Whether the list can change while a client is connected. */
  readonly live: boolean
  /** The tools listed beside the meta tools, or in classic mode all, in a stable order. */
  list(): Promise<readonly ListedTool[]>
  /** Finds a listed tool by name. */
  find(name: string): Promise<ListedTool | undefined>
  /** Calls back after each change of the list, until the returned function is called. */
  onChange(listener: () => void): () => void
  /** The remaining time limit of the running calls. */
  maxMs(): number
}

/** The client of a process that serves no other. */
export const soleClient = (): ClientExchange => ({
  caller: { workspace: 'default', actor: 'owner' },
  exchanges: new MemoryExchanges(),
})

/** The tools of this process; of a server if the URL for approvals is known. */
export function toolsOfContext(context: ProcessContext, mode: ListMode, live: boolean, origin?: string): McpTools {
  const { catalog, runner, caller, registry } = context
  return {
    client: createLocalClient(context),
    mode,
    exchange: registry === undefined ? soleClient() : { caller, exchanges: registry.stores.exchanges },
    isShared: origin !== undefined,
    isRecorded: context.runs !== undefined,
    hasPrompts: (workspaceOffers(context)?.servers().length ?? 0) > 0,
    // Others need the decision of somebody else.
    mayApprove: async () => context.scopes.has('admin'),
    approvalUrl: (id) => (origin === undefined ? undefined : toApprovalUrl(origin, id)),
    codeMode: context.codeMode === true,
    // Registered tools change while clients are connected.
    live: live || context.registry !== undefined,
    list: () => listedWithIds(context, mode),
    find: async (name) => (await listedWithIds(context, mode)).find(({ tool }) => tool.name === name),
    onChange: (listener) => catalog.onChange(listener),
    maxMs: () => runner.maxMs(),
  }
}

/** The page of the console where a person decides on an execution. */
export const toApprovalUrl = (origin: string, executionId: string): string => `${origin}/executions/${executionId}`

/** Combines the tools of local configs and of a registry; a shared name resolves to the tool of the config. */
export function combineTools(local: McpTools, registry: McpTools, client: RegistryClient): McpTools {
  return {
    ...registry,
    client,
    mode: local.mode,
    codeMode: local.codeMode,
    live: true,
    async list() {
      const own = await local.list()
      const taken = new Set(own.map(({ tool }) => tool.name))
      return [...own, ...(await registry.list()).filter(({ tool }) => !taken.has(tool.name))]
    },
    find: async (name) => (await local.find(name)) ?? registry.find(name),
    onChange(listener) {
      const removals = [local.onChange(listener), registry.onChange(listener)]
      return () => {
        for (const remove of removals) remove()
      }
    },
    maxMs: () => Math.max(local.maxMs(), registry.maxMs()),
  }
}
