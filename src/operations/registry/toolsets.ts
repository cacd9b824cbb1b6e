import * as z from 'zod'
import { mustExist } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { didYouMean } from '../../base/suggest.ts'
import { loadTokenCounter } from '../../base/tokens.ts'
import { suggestionSteps, WorkBudget } from '../../base/work-budget.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { FoundEntry } from '../../catalog/index.ts'
import { Readiness, readinessOnServer, unlessReady } from '../../contract/catalog.ts'
import type { Category } from '../../contract/registry.ts'
import type { Caller } from '../../contract/stores.ts'
import { Toolset, ToolsetFilter, ToolsetName } from '../../contract/toolset.ts'
import { refuseFindings } from '../../diagnostics/problem-error.ts'
import { normalizeTags } from '../../rules/normalize-tags.ts'
import { toFullId } from '../../rules/tool-id.ts'
import { checkToolset, isInToolset, isNameOf, mayUse, resolveToolset } from '../../rules/toolset-rules.ts'
import { callerOfToolset } from '../catalog/caller-toolsets.ts'
import { faultsOfPatterns } from '../checks/tool-threads.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { toolViewOfCaller } from '../search/tool-view.ts'
import { ExpectedVersion } from './inputs.ts'
import { withWarnings, writeWarnings } from './written-tool.ts'

const tag = 'toolsets'
const condition = { expectedVersion: ExpectedVersion.optional() }

/** A toolset; its filter, policy and callers are returned to callers with the scope write only. */
const ShownToolset = z.object({ ...Toolset.shape, filter: ToolsetFilter.optional() })

/** Lists toolsets. */
export const listToolsets = defineOperation({
  name: 'toolsets.list',
  summary: 'List the toolsets that the caller may use, by name.',
  scope: 'read',
  needs: ['registry'],
  http: { method: 'get', path: '/toolsets', tag },
  input: z.object({}),
  output: z.object({ items: z.array(ShownToolset) }),
  async handle(_, context) {
    const all = await context.registry.stores.toolsets.list(context.caller.workspace)
    return { items: all.filter((toolset) => isUsable(toolset, context)).map((toolset) => show(toolset, context)) }
  },
})

/** Reads a toolset. */
export const getToolset = defineOperation({
  name: 'toolsets.get',
  summary: 'Read a toolset.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/toolsets/{name}', tag },
  input: z.object({ name: ToolsetName }),
  output: ShownToolset,
  handle: async ({ name }, context) => show(await findToolset(context, name), context),
})

/** Creates or replaces a toolset. */
export const putToolset = defineOperation({
  name: 'toolsets.put',
  summary: 'Create or replace a toolset, which is served at /mcp/{name}.',
  subject: 'toolset',
  scope: 'admin',
  needs: ['catalog', 'registry'],
  http: { method: 'put', path: '/toolsets/{name}', tag },
  input: Toolset.extend(condition),
  output: Toolset.extend(writeWarnings),
  async handle({ expectedVersion, ...toolset }, context) {
    const faultOf = await faultsOfPatterns([toolset.policy], context.signal)
    refuseFindings(checkToolset(toolset, faultOf))
    await context.registry.stores.toolsets.put(context.caller, toolset, { expectedVersion })
    return withWarnings(toolset, (await findToolsetWarnings(context, toolset)).map(toWarning))
  },
})

/** Deletes a toolset. */
export const deleteToolset = defineOperation({
  name: 'toolsets.delete',
  summary: 'Delete a toolset; keys that are restricted to it then see no tools.',
  scope: 'admin',
  needs: ['catalog', 'registry'],
  http: { method: 'delete', path: '/toolsets/{name}', tag },
  input: z.object({ name: ToolsetName, ...condition }),
  output: Toolset.extend(writeWarnings),
  async handle({ name, expectedVersion }, context) {
    const { stores } = context.registry
    const { workspace } = context.caller
    const toolset = mustExist(await stores.toolsets.get(workspace, name), 'toolset', name)
    await stores.toolsets.remove(context.caller, name, { expectedVersion })
    const keys = (await stores.keys.list(workspace)).filter(
      ({ toolsets, revokedAt }) => revokedAt === null && toolsets?.includes(name),
    )
    const warnings = keys.map((key) => `The key ${key.name} is restricted to the deleted toolset ${name}.`)
    return withWarnings(toolset, warnings.map(toWarning))
  },
})

const toWarning = (message: string) => ({ severity: 'warning', message }) as const

const ToolsetTool = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  tokens: z.int().describe('The tokens of its definition in the list of a client.'),
  /** Present only if the tool cannot be called now. */
  readiness: Readiness.optional(),
})

/** Lists the tools of a toolset. */
export const listToolsetTools = defineOperation({
  name: 'toolsets.tools',
  summary: 'List the tools of a toolset as its clients see them, with the tokens that each costs in a list.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/toolsets/{name}/tools', tag },
  input: z.object({ name: ToolsetName }),
  output: z.object({
    items: z.array(ToolsetTool),
    tokens: z.int().describe('The tokens of all definitions, which a client in the mode classic pays.'),
  }),
  async handle({ name }, context) {
    const inside = { ...context, caller: await callerOfToolset(context, name) }
    const [count, view] = [await loadTokenCounter(), await toolViewOfCaller(inside)]
    const tools = await context.catalog.indexInTurns(undefined, context.signal)
    const turn = yieldTurns(context.signal)
    const items: z.output<typeof ToolsetTool>[] = []
    for (const { id, tool, readiness } of tools.search({ view, limit: Math.max(tools.size, 1) }).hits) {
      const { description, inputSchema } = tool
      const tokens = count(JSON.stringify({ name: tool.name, description, inputSchema }))
      items.push({
        id,
        name: tool.name,
        description,
        tokens,
        ...unlessReady(readinessOnServer(readiness, context.origin)),
      })
      await turn()
    }
    return { items, tokens: items.reduce((sum, { tokens }) => sum + tokens, 0) }
  },
})

async function findToolset(context: OperationContext<'catalog' | 'registry'>, name: string): Promise<Toolset> {
  const { stores } = context.registry
  const toolset = await stores.toolsets.get(context.caller.workspace, name)
  if (toolset !== undefined && isUsable(toolset, context)) return toolset
  // The error has suggestions.
  await callerOfToolset(context, name)
  return mustExist(toolset, 'toolset', name)
}

const isWriter = ({ scopes, caller }: OperationContext): boolean => scopes.has('write') && caller.toolsets === undefined

/** Whether a toolset is shown to the caller: one that it may use, or may change. */
const isUsable = (toolset: Toolset, context: OperationContext): boolean =>
  isWriter(context) || (mayUse(toolset, context.caller) && isOwn(toolset, context.caller))

const isOwn = ({ name }: Toolset, { toolsets }: Caller): boolean => toolsets?.includes(name) ?? true

function show(toolset: Toolset, context: OperationContext): z.output<typeof ShownToolset> {
  if (isWriter(context)) return toolset
  const { filter: _filter, policy: _policy, callers: _callers, ...rest } = toolset
  return rest
}

/** Names in a toolset that match nothing now; not an error, because tools may be registered later. */
async function findToolsetWarnings(
  { catalog, registry, caller }: OperationContext<'catalog' | 'registry'>,
  toolset: Toolset,
): Promise<readonly string[]> {
  const tools = (await catalog.open()).list()
  const categories = await registry.stores.categories.all(caller.workspace)
  const unknown = findUnknown(toolset, tools, categories)
  const resolved = resolveToolset(toolset, categories)
  const contained = tools.filter(({ tool }) => isInToolset(resolved, tool))
  if (contained.length === 0) return [...unknown, 'The filter matches no tool, so the toolset is empty.']
  const outside = (toolset.pinned ?? []).filter(
    (name) => tools.some(({ tool }) => isNameOf(name, tool)) && !contained.some(({ tool }) => isNameOf(name, tool)),
  )
  return [...unknown, ...outside.map((name) => `The pinned tool '${toOneLine(name)}' is not in the toolset.`)]
}

const maxWarnings = 20

function findUnknown({ filter, pinned, policy }: Toolset, tools: readonly FoundEntry[], all: readonly Category[]) {
  const budget = new WorkBudget(suggestionSteps)
  const lower = (text: string) => text.toLowerCase()
  const check = (noun: string, words: readonly string[] | undefined, known: Iterable<string>, normal = lower) => {
    const values = new Set(known)
    const normals = new Set(Array.from(values, normal))
    return (words ?? [])
      .filter((word) => !normals.has(normal(word)))
      .map((word) => `There is no ${noun} '${toOneLine(word)}' now.${didYouMean(word, values, budget)}`)
  }
  const same = (text: string) => text
  const names = tools.flatMap(({ tool }) => [tool.name, toFullId(tool)])
  const categories = [...all.map(({ name }) => name), ...tools.flatMap(({ tool }) => tool.category ?? [])]
  const tags = tools.flatMap(({ tool }) => tool.tags)
  return [
    ...check(
      'namespace',
      filter.namespaces,
      tools.map(({ tool }) => tool.namespace ?? ''),
    ),
    ...check('tag', filter.tags, tags, (word) => normalizeTags([word])[0] ?? ''),
    ...check('category', filter.categories, [...categories, ...all.map(({ id }) => id)]),
    ...check('tool', [...new Set([...(filter.names ?? []), ...(pinned ?? [])])], names, same),
    ...check(
      'tool',
      Object.keys(policy?.tools ?? {}),
      tools.map(({ tool }) => tool.name),
      same,
    ),
  ].slice(0, maxWarnings)
}
