import { TooldexError } from '../../base/errors.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { BundlePolicy } from '../../contract/bundle.ts'
import { LlmFormat } from '../../contract/llm.ts'
import type { ToolContent } from '../../contract/registry.ts'
import { aliasCandidates } from '../../definitions/index.ts'
import { formatToolId } from '../../rules/tool-id.ts'
import { findUnregistered } from '../catalog/resolve-name.ts'
import type { OperationContext } from '../operation.ts'
import { type ProposedEdit, policyNaming, refuseLoosening, type ToolEdit } from './protection-gate.ts'

/** Rejects a change that loosens the protection of a tool, or takes a name that belongs to another. */
export async function refuseUnsafeChange(
  context: OperationContext<'catalog'>,
  edit: ToolEdit,
  proposal?: ProposedEdit,
): Promise<void> {
  await refuseLoosening(context, edit, proposal)
  await refuseTakenName(context, edit.next, edit)
}

type Named = Pick<ToolContent, 'name' | 'namespace'>

/**
 * Rejects a name that another source offers, that is the alias of another tool in lists for models, or that a policy has a
 * rule for, without the scope 'admin': calls and permissions meant for the other tool would apply to this one.
 */
export async function refuseTakenName(
  context: OperationContext<'catalog'>,
  next: Named,
  { current, policies }: { readonly current?: Named; readonly policies: readonly BundlePolicy[] },
): Promise<void> {
  if (context.scopes.has('admin')) return
  if (current !== undefined && current.name === next.name && current.namespace === next.namespace) return
  const owner = await findOwner(context, next, policies, current)
  if (owner === undefined) return
  throw new TooldexError('FORBIDDEN', `${owner}; giving it to a registered tool needs the scope 'admin'.`, {
    hint: 'Choose another name and namespace, or ask an admin.',
  })
}

const isOfServer = ({ tool }: { readonly tool: { readonly source?: string | undefined } }): boolean =>
  tool.source === 'mcp'

async function findOwner(
  { catalog }: OperationContext<'catalog'>,
  { name, namespace }: Named,
  policies: readonly BundlePolicy[],
  current: Named | undefined,
): Promise<string | undefined> {
  const tools = await catalog.open()
  const offered = findUnregistered(tools, name)
  if (offered !== undefined)
    return `The name ${name} is that of ${offered.id}, a tool of a ${isOfServer(offered) ? 'source' : 'config'}`
  if (namespace && catalog.current().configs.some(({ config }) => config.name === namespace))
    return `The namespace ${namespace} is that of a config`
  const isTaken = (other: string | undefined) => other?.toLowerCase() === namespace?.toLowerCase()
  if (namespace && tools.list().some((found) => isOfServer(found) && isTaken(found.tool.namespace)))
    return `The namespace ${namespace} is that of a source`
  if (current?.name === name) return undefined
  const policy = policyNaming(policies, name)
  if (policy !== undefined) return `The policy ${policy} has a rule for the name ${name}`
  const turn = yieldTurns()
  for (const { tool } of tools.entries.values()) {
    await turn()
    const isAlias = LlmFormat.options.some((format) => aliasCandidates(tool, format).includes(name))
    if (isAlias && tool.name !== name)
      return `The name ${name} is what ${formatToolId(tool)} is called in lists for models`
  }
  return undefined
}
