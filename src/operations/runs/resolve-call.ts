import { TooldexError } from '../../base/errors.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import { ruleFor, rulesFor, type ToolRule } from '../../contract/policy.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { fromConfig, fromRegistry } from '../../contract/runnable-tool.ts'
import { formatToolId } from '../../contract/tool-id.ts'
import { findTool } from '../find-tool.ts'
import { toolIdOf } from '../live-catalogue.ts'
import type { OperationContext } from '../operation.ts'
import { type FoundTool, inVersion, isCallable, type NamedTool, resolveName } from '../resolve-name.ts'

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
  // Both are asked of the database at once.
  const [named, rulesOn] = await Promise.all([resolveName(context, name), readRules(context)])
  if (named?.from === 'config') {
    const { entry } = named
    refuseVersion(entry.toolName, version)
    const rules = rulesOn(entry.toolName) ?? (await refuseHidden(context, name))
    return resolveConfigured(context, named, rules)
  }
  const registered =
    named === undefined
      ? undefined
      : await resolveRegistered(context, named, { version, bound: rulesOn(named.tool.name) })
  if (registered !== undefined) return registered
  const found = await findTool(context, name)
  throw new TooldexError('UNAVAILABLE', `${found.from === 'catalogue' ? found.id : name} cannot be run here.`, {
    hint: 'Read about it with describe_tool.',
  })
}

function resolveConfigured({ catalogue }: OperationContext, { entry, resolved }: FoundTool, kept: readonly ToolRule[]) {
  const own = ruleFor(catalogue.current().policy, entry.toolName)
  // What the file says of values is part of the tool already.
  const rules = own?.requireApproval === true ? [...kept, { requireApproval: true, args: {} }] : kept
  const tool = fromConfig(resolved)
  const bound =
    rules.length === 0 ? tool : { ...tool, constraints: [...tool.constraints, ...rules.map(({ args }) => args)] }
  return { tool: bound, id: toolIdOf(entry), needsApproval: asksApproval(bound, rules) }
}

async function resolveRegistered(
  context: OperationContext,
  named: NamedTool,
  { version, bound }: { version: number | undefined; bound: readonly ToolRule[] | undefined },
): Promise<ResolvedCall | undefined> {
  const { tool: latest } = named
  if (bound === undefined) return undefined
  refuseInactive(latest)
  const runnable = fromRegistry(await inVersion(context, latest, version ?? named.version), bound)
  return {
    tool: runnable,
    id: formatToolId({ name: latest.name, namespace: latest.namespace ?? undefined, version: String(latest.version) }),
    needsApproval: asksApproval(runnable, bound),
    ...(latest.status === 'DEPRECATED' ? { warning: `${latest.name} is deprecated and may go away.` } : {}),
  }
}

function refuseInactive(tool: RegisteredTool): void {
  if (isCallable(tool)) return
  const { name, status } = tool
  throw new TooldexError('TOOL_DISABLED', `${name} is ${status} and cannot be called.`)
}

function refuseVersion(name: string, version: number | undefined): void {
  if (version === undefined) return
  throw new TooldexError('INPUT_INVALID', `${name} comes from a config file and has no versions.`, {
    hint: 'Leave version out.',
  })
}

/** What policies in the database say about each tool, for this caller; undefined of one that is hidden. */
async function readRules({ registry, caller }: OperationContext) {
  const named = (await registry?.stores.policies.list(caller.workspace)) ?? []
  const policies = named.map(({ policy }) => policy)
  return (name: string): readonly ToolRule[] | undefined => rulesFor(policies, name, caller.actor)
}

/** What is hidden is as unknown as what is not there. */
async function refuseHidden(context: OperationContext, given: string): Promise<never> {
  await findTool(context, given)
  throw new TooldexError('TOOL_NOT_FOUND', `Unknown tool: ${given.slice(0, 200)}.`)
}

const asksApproval = ({ annotations }: RunnableTool, rules: readonly ToolRule[]): boolean =>
  annotations.requiresApproval === true || rules.some(({ requireApproval }) => requireApproval === true)
