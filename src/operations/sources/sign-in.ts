import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { CallerSlots } from '../../base/semaphore.ts'
import { readinessOnServer } from '../../contract/catalog.ts'
import type { SignInRef, StoredSignIn } from '../../contract/sign-in.ts'
import { approvalHash, ownerOf } from '../../rules/server-definition.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { findSource } from './source-view.ts'

const tag = 'sources'
const needs = ['catalog', 'registry', 'sources'] as const
const name = z.string()

type StoredContext = OperationContext<'catalog' | 'registry'>

const State = z.object({
  name,
  mode: z.enum(['shared', 'caller']).describe('Whether all callers use one account, or each their own.'),
  isSignedIn: z.boolean(),
  issuer: z.string().nullable().describe('The authorization server.'),
  scope: z.string().nullable(),
  signedInAt: z.iso.datetime().nullable(),
  failure: z.string().nullable().describe('The reason why the sign-in has ended by itself.'),
  revision: z.int().describe('Increases with each change; pass it as after to wait for the next one.'),
})

/** Begins a sign-in at the server of a source. */
export const signInSource = defineOperation({
  name: 'sources.signIn',
  summary: 'Get the URL where this caller signs in at the server of a source; a shared sign-in needs the scope admin.',
  scope: 'call',
  needs,
  http: { method: 'post', path: '/sources/{name}/sign-in', tag },
  input: z.strictObject({ name }),
  output: State.extend({
    url: z.string().describe('The page of this server that begins the sign-in; valid for an hour.'),
  }),
  async handle({ name }, context) {
    const ref = await ownedBy(context, name)
    const { url } = readinessOnServer(
      { state: 'needs-credentials', url: context.sources.signIns.ticketFor(ref, context.caller.actor) },
      context.origin,
    )
    if (context.origin === undefined || url === undefined)
      throw new TooldexError('UNAVAILABLE', 'No server runs here that a browser could return to.', {
        hint: 'Start one with: tooldex serve',
      })
    return { ...(await stateOf(context, ref)), url }
  },
})

const maxWaitMs = 20_000
// Each of them queries the database once a second.
const waiters = new CallerSlots({ total: 200, perCaller: 20 })
// A notice of a change may be lost.
const pollMs = 1000

/** Reads the state of a sign-in. */
export const getSignIn = defineOperation({
  name: 'sources.signInState',
  summary: 'Read whether this caller is signed in at the server of a source, or wait until that changes.',
  scope: 'call',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/sources/{name}/sign-in', tag, deadlineMs: 120_000 },
  input: z.strictObject({
    name,
    after: z.coerce.number().int().min(0).optional().describe('Respond when the revision is a later one.'),
    waitMs: z.coerce.number().int().min(0).max(maxWaitMs).optional().describe('The longest wait.'),
  }),
  output: State,
  async handle({ name, after, waitMs = maxWaitMs }, context) {
    const ref = await ownedBy(context, name)
    if (after === undefined) return stateOf(context, ref)
    const leave = waiters.take(`${ref.workspace}/${context.caller.actor}`)
    if (typeof leave === 'number')
      throw new TooldexError('TOO_BUSY', `${leave} requests already wait for sign-ins.`, {
        hint: 'Try again later, or read the state without after.',
      })
    try {
      return await changedState(context, ref, { after, waitMs })
    } finally {
      leave()
    }
  },
})

/** The state when its revision is a later one, or after the wait. */
async function changedState(context: StoredContext, ref: SignInRef, wait: { after: number; waitMs: number }) {
  const until = performance.now() + wait.waitMs
  let wake = () => {}
  const stop = await context.registry.stores.feed.listen((workspace) => workspace === ref.workspace && wake())
  try {
    for (;;) {
      const noticed = new Promise<void>((resolve) => {
        wake = resolve
      })
      const state = await stateOf(context, ref)
      const left = until - performance.now()
      if (state.revision > wait.after || left <= 0) return state
      const pause = sleep(Math.min(left, pollMs), undefined, { signal: context.signal, ref: false }).catch(() => {})
      await Promise.race([noticed, pause])
      if (context.signal?.aborted) throw new TooldexError('EXECUTION_CANCELLED', 'The wait was cancelled.')
    }
  } finally {
    await stop()
  }
}

/** Ends a sign-in. */
export const signOutSource = defineOperation({
  name: 'sources.signOut',
  summary: 'Delete the tokens of a sign-in, and end them at the authorization server as far as it answers.',
  scope: 'call',
  needs,
  http: { method: 'delete', path: '/sources/{name}/sign-in', tag },
  input: z.strictObject({
    name,
    caller: z.string().max(300).optional().describe('Another caller, such as key:ci; needs the scope admin.'),
  }),
  output: State,
  async handle({ name, caller }, context) {
    if (caller !== undefined && caller !== context.caller.actor) requireAdmin(context, name)
    const ref = await ownedBy(context, name, caller)
    await context.sources.signIns.signOut(context.caller, ref)
    context.sources.stop(ref, ref.caller)
    return stateOf(context, ref)
  },
})

/** The sign-in that the caller uses; only administrators change a shared one. */
async function ownedBy(context: StoredContext, name: string, actor = context.caller.actor): Promise<SignInRef> {
  const { server, approvedHash } = await findSource(context, name)
  if ('command' in server)
    throw new TooldexError('INPUT_INVALID', `The source '${name}' is a program, which needs no sign-in.`, {
      hint: 'Only servers with a URL have a sign-in.',
    })
  if (approvedHash !== approvalHash(server))
    throw new TooldexError('FORBIDDEN', `The URL of the source '${name}' is not approved.`, {
      hint: `Check and approve it with: tooldex sources approve ${name}`,
    })
  const caller = ownerOf(server, actor)
  if (caller === '') requireAdmin(context, name)
  return { workspace: context.caller.workspace, name, caller }
}

function requireAdmin({ scopes, caller }: StoredContext, name: string): void {
  if (scopes.has('admin') && caller.toolsets === undefined) return
  throw new TooldexError('FORBIDDEN', `The sign-in at '${name}' is that of all callers, or of another one.`, {
    hint: "Ask an administrator: it needs the scope 'admin', without a restriction to toolsets.",
  })
}

async function stateOf({ registry }: StoredContext, ref: SignInRef): Promise<z.output<typeof State>> {
  const stored = await registry.stores.signIns.get(ref)
  return { name: ref.name, mode: ref.caller === '' ? 'shared' : 'caller', ...shownSignIn(stored) }
}

const shownSignIn = (stored: StoredSignIn | undefined) => ({
  isSignedIn: stored?.sealed != null,
  issuer: stored?.issuer ?? null,
  scope: stored?.scope ?? null,
  signedInAt: stored?.signedInAt ?? null,
  failure: stored?.failure ?? null,
  revision: stored?.revision ?? 0,
})
