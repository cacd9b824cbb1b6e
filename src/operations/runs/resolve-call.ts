import { TooldexError } from '../../base/errors.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import { ruleFor, rulesFor, type ToolRule } from '../../contract/policy.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { fromConfig, fromRegistry } from '../../contract/runnable-tool.ts'
import { formatToolId, parseToolId } from '../../contract/tool-id.ts'
import { findTool } from '../find-tool.ts'
import { toolIdOf } from '../live-catalogue.ts'
import type { OperationContext } from '../operation.ts'

/** A tool that may be called, and what is to be said about it. */
export interface ResolvedCall {
  readonly tool: RunnableTool
  /** As the catalogue knows it. */
  readonly id: string
  readonly needsApproval: boolean
  readonly warning?: string | undefined
}

/** The tool that a call names, if the caller may call it: of a config, or registered, in the version asked for. */
export async function resolveCall(
  context: OperationContext,
  name: string,
  version: number | undefined,
): Promise<ResolvedCall> {
  const { catalogue } = context
  const snapshot = catalogue.current()
  const entry = snapshot.names.get(name)
  const resolved = entry === undefined ? null : snapshot.index.get(entry.toolName)
  if (entry !== undefined && resolved !== null) {
    refuseVersion(entry.toolName, version)
    const rules = await rulesOf(context, entry.toolName, name)
    const tool = fromConfig(resolved)
    const bound =
      rules.length === 0 ? tool : { ...tool, constraints: [...tool.constraints, ...rules.map(({ args }) => args)] }
    return { tool: bound, id: toolIdOf(entry), needsApproval: asksApproval(bound, rules) }
  }
  const registered = await findRegistered(context, name, version)
  if (registered !== undefined) return registered
  const found = await findTool(context, name)
  throw new TooldexError('UNAVAILABLE', `${found.from === 'catalogue' ? found.id : name} cannot be run here.`, {
    hint: 'Read about it with describe_tool.',
  })
}

async function findRegistered(
  context: OperationContext,
  given: string,
  version: number | undefined,
): Promise<ResolvedCall | undefined> {
  const { registry, caller } = context
  const asked = readName(given, version)
  if (registry === undefined || asked === undefined) return undefined
  const { stores } = registry
  const [latest, rules] = await Promise.all([
    stores.tools.get(caller.workspace, asked.name),
    rulesOrHidden(context, asked.name),
  ])
  if (latest === undefined || (asked.namespace !== undefined && asked.namespace !== (latest.namespace ?? '')))
    return undefined
  const bound = latest.name === asked.name ? rules : await rulesOrHidden(context, latest.name)
  if (bound === undefined) return undefined
  refuseInactive(latest)
  const tool = asked.version === undefined ? latest : await pinned(context, latest, asked.version)
  const runnable = fromRegistry(tool, bound)
  return {
    tool: runnable,
    id: formatToolId({ name: latest.name, namespace: latest.namespace ?? undefined, version: String(latest.version) }),
    needsApproval: asksApproval(runnable, bound),
    ...(latest.status === 'DEPRECATED' ? { warning: `${latest.name} is deprecated and may go away.` } : {}),
  }
}

interface AskedTool {
  readonly name: string
  readonly namespace?: string | undefined
  readonly version?: number | undefined
}

/** `name`, `name@3`, `namespace:name`, `namespace:name:3` or an id of the registry. */
function readName(given: string, version: number | undefined): AskedTool | undefined {
  try {
    const { name, namespace, version: own } = parseToolId(given)
    const inName = own === undefined || own === '' ? undefined : Number(own)
    if (inName !== undefined && !Number.isInteger(inName)) return undefined
    return { name, ...(namespace === undefined ? {} : { namespace }), version: version ?? inName }
  } catch {
    return undefined
  }
}

async function pinned({ registry, caller }: OperationContext, tool: RegisteredTool, version: number) {
  if (version === tool.version) return tool
  const found = await registry?.stores.tools.version(caller.workspace, tool.id, version)
  if (found !== undefined) return { ...tool, ...found.content, version }
  throw new TooldexError('NOT_FOUND', `${tool.name} has no version ${version}; its versions are 1 to ${tool.version}.`)
}

function refuseInactive({ name, status }: RegisteredTool): void {
  if (status === 'ACTIVE' || status === 'DEPRECATED') return
  throw new TooldexError('TOOL_DISABLED', `${name} is ${status} and cannot be called.`)
}

function refuseVersion(name: string, version: number | undefined): void {
  if (version === undefined) return
  throw new TooldexError('INPUT_INVALID', `${name} comes from a config file and has no versions.`, {
    hint: 'Leave version out.',
  })
}

/** What policies in the database say about a tool, for this caller; undefined where one hides it. */
async function rulesOrHidden(
  { registry, caller }: OperationContext,
  name: string,
): Promise<readonly ToolRule[] | undefined> {
  if (registry === undefined) return []
  const named = await registry.stores.policies.list(caller.workspace)
  return rulesFor(
    named.map(({ policy }) => policy),
    name,
    caller.actor,
  )
}

/** What binds a tool of a config: the policy file of this process, and the policies of the database. */
async function rulesOf(context: OperationContext, name: string, given: string): Promise<readonly ToolRule[]> {
  const kept = await rulesOrHidden(context, name)
  if (kept === undefined) {
    await findTool(context, given)
    throw new TooldexError('TOOL_NOT_FOUND', `Unknown tool: ${given.slice(0, 200)}.`)
  }
  const own = ruleFor(context.catalogue.current().policy, name)
  // What the file says of values is part of the tool already.
  return own?.requireApproval === true ? [...kept, { requireApproval: true, args: {} }] : kept
}

const asksApproval = ({ annotations }: RunnableTool, rules: readonly ToolRule[]): boolean =>
  annotations.requiresApproval === true || rules.some(({ requireApproval }) => requireApproval === true)
