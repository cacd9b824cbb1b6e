import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { SyncedTool } from '../../catalog/index.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import type { Caller, RegistryState, Stores } from '../../contract/stores.ts'
import type { ResolvedToolset } from '../../contract/toolset.ts'
import { mayUse, type NamedRule, resolveToolset, toolsetRules } from '../../rules/toolset-rules.ts'
import type { OperationContext, ToolContext } from '../operation.ts'
import { validState } from '../operation.ts'
import { toolViewOfCaller } from '../search/tool-view.ts'
import type { ResolvedName } from './resolve-name.ts'

const loadOfferedDoc = lazyModule(() => import('../registry/offered-doc.ts'))

type Context = OperationContext<'catalog' | 'registry?'>

/** The toolsets that restrict the request, as of the last change of the catalog; a deleted one contains nothing. */
export async function toolsetsOfRequest(context: ToolContext): Promise<readonly ResolvedToolset[]> {
  const { catalog, caller } = context
  const kept = catalog.toolsets ?? []
  // One that was just created may not have arrived yet.
  const isComplete = caller.toolsets?.every((name) => kept.some((toolset) => toolset.name === name))
  return select(isComplete ? kept : await readToolsets(context), caller)
}

/** Whether the toolsets of a request allow programs: all of them, and at least one. */
export async function toolsetsAllowPrograms(context: ToolContext): Promise<boolean> {
  const toolsets = context.caller.toolsets === undefined ? [] : await toolsetsOfRequest(context)
  return toolsets.length > 0 && toolsets.every(({ codeMode }) => codeMode)
}

/** The rules of the toolsets as stored now for a tool to call; undefined for a tool that is in none of them. */
export async function readToolsetRules(
  context: ToolContext,
): Promise<(named: ResolvedName) => Promise<readonly NamedRule[] | undefined>> {
  const { caller } = context
  if (caller.toolsets === undefined) return async () => []
  const toolsets = select(await readToolsets(context), caller)
  const byReadiness = toolsets.some(({ filter }) => filter.readiness?.length)
  return async (named) => {
    const found = named.registered === undefined ? named : await showPresent(context, named.registered)
    if (byReadiness && (await toolViewOfCaller(context))?.shows(found) === false) return undefined
    return toolsetRules(toolsets, found.tool, caller)
  }
}

async function showPresent(context: ToolContext, tool: RegisteredTool): Promise<SyncedTool> {
  const { findToolForm } = await loadOfferedDoc()
  return findToolForm(context, tool)
}

const select = (all: readonly ResolvedToolset[], { toolsets = [], ...caller }: Caller) =>
  all.filter((toolset) => toolsets.includes(toolset.name) && mayUse(toolset, caller))

async function readToolsets(context: OperationContext<'registry?'>): Promise<readonly ResolvedToolset[]> {
  const { registry, caller } = context
  return registry === undefined ? [] : resolveStoredToolsets(registry.stores, caller.workspace, validState(context))
}

/** All stored toolsets of a workspace. */
export async function resolveStoredToolsets(
  { toolsets, categories }: Pick<Stores, 'toolsets' | 'categories'>,
  workspace: string,
  state?: RegistryState,
): Promise<readonly ResolvedToolset[]> {
  const stored = await toolsets.list(workspace, state)
  const hasCategories = stored.some(({ filter }) => filter.categories?.length)
  const all = hasCategories ? await categories.all(workspace) : []
  return stored.map((toolset) => resolveToolset(toolset, all))
}

/** The caller of a request to the endpoint of a toolset; the error for a toolset of others is that for an unknown one. */
export async function callerOfToolset(context: Context, name: string): Promise<Caller> {
  const { caller } = context
  const isOpen = (toolset: ResolvedToolset) =>
    mayUse(toolset, caller) && (caller.toolsets?.includes(toolset.name) ?? true)
  const usable = (await readToolsets(context)).filter(isOpen)
  if (usable.some((toolset) => toolset.name === name)) return { ...caller, toolsets: [name] }
  const names = usable.map((toolset) => toolset.name)
  throw new TooldexError('NOT_FOUND', `Unknown toolset: ${toOneLine(name).slice(0, 100)}.${didYouMean(name, names)}`, {
    hint:
      names.length === 0
        ? 'Check the name, or list the toolsets with: tooldex toolsets list'
        : `The toolsets are: ${names.slice(0, 20).join(', ')}.`,
  })
}
