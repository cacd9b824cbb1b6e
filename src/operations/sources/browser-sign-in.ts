import { createHash } from 'node:crypto'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import type { BegunSignIn, SignInReturn, SignInTicket } from '../../contract/sign-in.ts'
import type { OperationContext } from '../operation.ts'
import { readSource } from './read-source.ts'

/** The services that the pages of a sign-in need. */
export type BrowserContext = OperationContext<'catalog' | 'registry' | 'sources'>

/** The part of a sign-in that only the browser which began it has. */
export interface BrowserProof {
  readonly ticket: SignInTicket
  readonly state: string
}

/** What the page of a sign-in shows before a browser is sent to the authorization server. */
export interface SignInOffer {
  readonly ticket: SignInTicket
  readonly host: string
}

/** The sign-in of a link; the link must belong to a caller that still exists, and be unused. */
export async function openTicket({ registry, sources }: BrowserContext, text: string): Promise<SignInOffer> {
  const ticket = sources.signIns.readTicket(text)
  if (ticket === undefined) throw expired()
  const { workspace, actor, name, id } = ticket
  if ((await registry.stores.exchanges.get({ workspace, actor }, usedKey(id))) !== undefined) throw expired()
  await requireValidCaller({ registry }, ticket)
  const source = await registry.stores.sources.summary(workspace, name)
  if (source === undefined || !('url' in source.server)) throw expired()
  return { ticket, host: new URL(source.server.url).host }
}

/** Prepares the request of a browser at the authorization server. */
export async function beginInBrowser(
  { registry, sources }: BrowserContext,
  ticket: SignInTicket,
  origin: string,
): Promise<BegunSignIn> {
  const begun = await sources.signIns.begin(ticket, origin)
  const { workspace, actor } = ticket
  await registry.stores.exchanges.put({ workspace, actor }, exchangeKey(begun.state), { sealed: begun.sealed })
  return begun
}

/** Finishes a sign-in with the answer that a browser brings; each state and each link is accepted once. */
export async function finishInBrowser(
  context: BrowserContext,
  { ticket, state }: BrowserProof,
  answer: SignInReturn,
): Promise<void> {
  const { registry, sources, caller: actor } = context
  const { workspace, name, caller, id } = ticket
  const { exchanges } = registry.stores
  const begun = await exchanges.take(actor, exchangeKey(state))
  if (!isObject(begun) || typeof begun.sealed !== 'string') throw expired()
  if ((await exchanges.get(actor, usedKey(id))) !== undefined) throw expired()
  await requireValidCaller(context, ticket)
  const ref = { workspace, name, caller }
  await sources.signIns.finish(actor, ref, { sealed: begun.sealed }, answer)
  await exchanges.put(actor, usedKey(id), {})
  // A connection of another account must not be used any longer.
  sources.stop(ref, caller)
  await readAfter(context, ticket)
}

/** A source that could not be read before is read now; one of callers is read for an administrator only. */
async function readAfter(context: BrowserContext, { workspace, name, caller, actor }: SignInTicket): Promise<void> {
  const { stores } = context.registry
  const source = await stores.sources.summary(workspace, name)
  if (caller !== '' && (source?.readAt !== null || !(await isAdministrator(context, workspace, actor)))) return
  await readSource(context, name).catch((thrown: unknown) => {
    const { message } = toTooldexError(thrown)
    context.logger.warn(`signed in at the source ${name}, but it could not be read: ${message}`)
  })
}

/** The key of a caller, which may have been revoked since the link was made; callers with access tokens have none. */
async function keyOf({ registry }: Pick<BrowserContext, 'registry'>, workspace: string, actor: string) {
  const [, keyName] = /^key:(.*)$/s.exec(actor) ?? []
  if (keyName === undefined) return undefined
  const found = (await registry.stores.keys.list(workspace)).find((key) => key.name === keyName)
  const isExpired = found !== undefined && found.expiresAt !== null && Date.parse(found.expiresAt) <= Date.now()
  if (found === undefined || found.revokedAt !== null || isExpired) throw expired()
  return found
}

async function isAdministrator(context: BrowserContext, workspace: string, actor: string): Promise<boolean> {
  return (await keyOf(context, workspace, actor))?.scopes.includes('admin') === true
}

async function requireValidCaller(
  context: Pick<BrowserContext, 'registry'>,
  { workspace, actor, caller }: SignInTicket,
): Promise<void> {
  const key = await keyOf(context, workspace, actor)
  if (caller === '' && key !== undefined && !key.scopes.includes('admin')) throw expired()
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')
const exchangeKey = (state: string): string => `sign-in ${hashOf(state)}`
const usedKey = (id: string): string => `sign-in link ${id}`

/** The error for a link or an answer that is forged, used or too old; it does not say which. */
export const expired = (): TooldexError =>
  new TooldexError('NOT_FOUND', 'This sign-in is unknown, was used already, or has expired.', {
    hint: 'Request a new link: call the tool again, or run tooldex sources sign-in NAME.',
  })
