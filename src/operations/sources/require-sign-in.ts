import { TooldexError } from '../../base/errors.ts'
import { type Readiness, readinessOnServer } from '../../contract/catalog.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { SignInRef } from '../../contract/sign-in.ts'
import { ownerOf } from '../../rules/server-definition.ts'
import type { OperationContext } from '../operation.ts'

type SignInContext = OperationContext<'catalog' | 'registry?' | 'sources?'>

/** A tool as far as its sign-in is concerned. */
interface SignedTool {
  readonly runnable?: RunnableTool | undefined
}

/** The readiness of tools for the caller, who may have to sign in at their servers first. */
export async function readSignIns(
  context: SignInContext,
  tools: readonly SignedTool[],
): Promise<(tool: SignedTool, readiness: Readiness) => Readiness> {
  const { catalog, registry, caller } = context
  const isNeeded = ({ runnable }: SignedTool) =>
    runnable?.source !== undefined && needOf(catalog, runnable) !== undefined
  if (registry === undefined || !tools.some(isNeeded)) return (_tool, readiness) => readiness
  const own = await registry.stores.signIns.list(caller.workspace, [caller.actor, ''])
  const signedIn = new Set(own.flatMap(({ source, caller, isSignedIn }) => (isSignedIn ? [`${source} ${caller}`] : [])))
  return ({ runnable }, readiness) => {
    const need = runnable === undefined ? undefined : needOf(catalog, runnable)
    const { name = '' } = runnable?.source ?? {}
    if (need === undefined || signedIn.has(`${name} ${need === 'caller' ? caller.actor : ''}`)) return readiness
    return lackOf(context, name, need)
  }
}

const needOf = (catalog: SignInContext['catalog'], { source }: RunnableTool) =>
  source === undefined ? undefined : catalog.signIns.get(source.name)

function lackOf(context: SignInContext, name: string, need: 'caller' | 'shared'): Readiness {
  const reason =
    need === 'caller' ? `sign in at ${name} with an account of your own` : `an administrator must sign in at ${name}`
  const url = linkFor(context, name, need)
  return { state: 'needs-credentials', reason, ...(url === undefined ? {} : { url }) }
}

/** The link of the caller; that of a shared sign-in is for administrators. */
function linkFor(
  { sources, caller, scopes, origin }: SignInContext,
  name: string,
  need: 'caller' | 'shared',
): string | undefined {
  const isAllowed = need === 'caller' || (scopes.has('admin') && caller.toolsets === undefined)
  if (!isAllowed || sources === undefined) return undefined
  const ref: SignInRef = { workspace: caller.workspace, name, caller: need === 'caller' ? caller.actor : '' }
  const url = sources.signIns.ticketFor(ref, caller.actor)
  return readinessOnServer({ state: 'needs-credentials', url }, origin).url
}

/** Rejects a call of a tool whose server the caller has to sign in at first; nothing is recorded or started for it. */
export async function requireSignIn(context: SignInContext, runnable: RunnableTool): Promise<void> {
  if (runnable.source === undefined || context.catalog.signIns.size === 0) return
  const { state } = (await readSignIns(context, [{ runnable }]))({ runnable }, { state: 'ready' })
  if (state === 'needs-credentials') throw await signInError(context, runnable.source.name)
}

/** The error of a call that needs a sign-in, with the link of its caller. */
export async function signInError(context: SignInContext, name: string): Promise<TooldexError> {
  const { registry, caller } = context
  const source = await registry?.stores.sources.summary(caller.workspace, name)
  const need = source !== undefined && ownerOf(source.server, caller.actor) !== '' ? 'caller' : 'shared'
  const url = linkFor(context, name, need)
  const who = need === 'caller' ? 'Each caller signs in' : 'An administrator must sign in'
  return new TooldexError('SIGN_IN_REQUIRED', `The MCP server '${name}' needs a sign-in.`, {
    hint:
      url === undefined
        ? `${who}: tooldex sources sign-in ${name}`
        : `Open ${url} in a browser and sign in, then call again.`,
    url,
  })
}
