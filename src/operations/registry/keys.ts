import { hash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { hasInvisible } from '../../base/invisible-characters.ts'
import { didYouMean } from '../../base/suggest.ts'
import { asStored } from '../../contract/as-stored.ts'
import type { ApiKey, Caller, KeyScope } from '../../contract/stores.ts'
import { ToolsetName } from '../../contract/toolset.ts'
import { hints } from '../../diagnostics/shape-problems.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { IdOrName } from './inputs.ts'

const tag = 'keys'
const scopes = ['read', 'call', 'write', 'admin'] as const satisfies readonly KeyScope[]

/** A key without its secret. */
const KeyInfo = z.object({
  id: z.guid(),
  name: z.string(),
  prefix: z.string().describe('The first characters of the secret, to identify the key.'),
  scopes: asStored(z.array(z.enum(scopes))),
  toolsets: z.array(z.string()).nullable().describe('The toolsets that the key is restricted to.'),
  codeMode: z.boolean().describe('Whether its callers may run programs with tooldex:run_code.'),
  createdAt: z.string(),
  createdBy: z.string().nullable(),
  expiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
})

/** The recovery without a key: direct access to the database needs none. */
export const recoveryHint =
  'If no admin key is left, stop the server and run tooldex keys create NAME --scope admin on its database.'

/** A new secret and its stored hash. */
export function generateKey(secret = `tdx_${randomBytes(24).toString('base64url')}`) {
  return { secret, prefix: secret.slice(0, 8), hash: hashKey(secret) }
}

/** Keys are long and random, so one round of a fast hash is enough, and no timing-safe comparison is needed. */
export const hashKey = (secret: string): string => hash('sha256', secret, 'hex')

/** Creates a key. */
export const createKey = defineOperation({
  name: 'keys.create',
  summary: 'Create an API key; its secret is shown only once.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'post', path: '/keys', status: 201, location: '/keys/{id}', tag },
  input: z.strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .refine((name) => !/[\n\t]/.test(name) && !hasInvisible(name), 'must not contain control or invisible characters')
      .register(hints, { hint: 'use letters, digits, spaces and punctuation, such as ci-runner' }),
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .default(['read'])
      .describe('Scope of the key; may be repeated; default read.'),
    codeMode: z.boolean().default(false).describe('Allow programs that call tools (tooldex:run_code).'),
    expiresAt: z.iso
      .datetime({ offset: true })
      .refine((at) => Date.parse(at) > Date.now(), 'must be in the future')
      .register(hints, { hint: 'use a time such as 2030-01-31T00:00:00Z' })
      .optional()
      .describe('Expiry time, such as 2030-01-31T00:00:00Z.'),
    toolsets: z
      .array(ToolsetName)
      .min(1)
      .optional()
      .describe('Toolset that the key is restricted to on every surface; may be repeated.'),
    workspace: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must contain only lower-case letters, digits and dashes')
      .optional()
      .describe(
        'Workspace of the key, if not your own; its first key creates it. Only callers of the first workspace may set it.',
      ),
  }),
  output: KeyInfo.extend({ secret: z.string() }),
  async handle({ name, scopes: requested, codeMode, expiresAt, toolsets, workspace }, context) {
    const caller = callerOfWorkspace(context, workspace)
    if (toolsets !== undefined) await checkRestriction(context, caller, { toolsets, requested })
    const { secret, prefix, hash } = generateKey()
    const draft = { name, prefix, hash, scopes: [...new Set(requested)], codeMode, expiresAt, toolsets }
    const key = await context.registry.stores.transaction(async ({ keys, audit }) => {
      if (caller.workspace !== context.caller.workspace)
        await audit.add(context.caller, {
          action: 'key.create',
          subject: `key:${caller.workspace}/${name}`,
          after: { workspace: caller.workspace, scopes: draft.scopes, codeMode, expiresAt, toolsets },
        })
      return keys.create(caller, draft)
    })
    return { ...key, secret }
  },
})

/**
 * The owner of the first workspace owns the installation and creates other workspaces; the audit log of that workspace
 * names the origin of the key.
 */
function callerOfWorkspace({ caller }: OperationContext, workspace = caller.workspace): Caller {
  if (workspace === caller.workspace) return caller
  if (caller.workspace === 'default') return { ...caller, workspace, actor: `${caller.workspace}/${caller.actor}` }
  throw new TooldexError('FORBIDDEN', 'Only callers of the first workspace can create keys for another workspace.')
}

/** Rejects unknown toolsets, and scopes with which the holder could remove the restriction. */
async function checkRestriction(
  { registry }: OperationContext<'registry'>,
  { workspace }: Caller,
  { toolsets, requested }: { readonly toolsets: readonly string[]; readonly requested: readonly KeyScope[] },
): Promise<void> {
  const known = (await registry.stores.toolsets.list(workspace)).map(({ name }) => name)
  const unknown = toolsets.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new TooldexError('NOT_FOUND', `Unknown toolset: ${unknown}.${didYouMean(unknown, known)}`, {
      hint: 'List the toolsets to find its name.',
    })
  if (requested.every((scope) => scope === 'read' || scope === 'call')) return
  throw new TooldexError('INPUT_INVALID', 'A key that is restricted to toolsets has the scopes read and call only.', {
    hint: 'Omit the other scopes, or the toolsets.',
  })
}

/** Lists keys. */
export const listKeys = defineOperation({
  name: 'keys.list',
  summary: 'List API keys without their secrets.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'get', path: '/keys', tag },
  input: z.object({}),
  output: z.object({ items: z.array(KeyInfo) }),
  async handle(_, context) {
    return { items: await context.registry.stores.keys.list(context.caller.workspace) }
  },
})

/** Returns the key of the request. */
export const currentKey = defineOperation({
  name: 'keys.current',
  summary: 'Show the current key: its name, workspace and scopes.',
  scope: 'read',
  http: { method: 'get', path: '/keys/current', tag },
  input: z.object({}),
  output: z.object({
    name: z.string(),
    workspace: z.string(),
    scopes: z.array(z.enum(scopes)),
    groups: z.array(z.string()).optional().describe('The groups of the access token.'),
    toolsets: z.array(z.string()).optional().describe('The toolsets that the request is restricted to.'),
    codeMode: KeyInfo.shape.codeMode,
  }),
  handle: (_, { caller, scopes: granted, codeMode = false }) => ({
    name: caller.actor.replace(/^key:/, ''),
    workspace: caller.workspace,
    scopes: scopes.filter((scope) => granted.has(scope)),
    codeMode,
    ...(caller.groups === undefined ? {} : { groups: [...caller.groups] }),
    ...(caller.toolsets === undefined ? {} : { toolsets: [...caller.toolsets] }),
  }),
})

/** Without an admin key none could be created, and an expiring one is only a temporary solution. */
function refuseLast(own: ApiKey, keys: readonly ApiKey[]): void {
  if (!isAdmin(own)) return
  const others = keys.filter((key) => isAdmin(key) && key.id !== own.id)
  if (others.length === 0) throw lastKey(`${own.name} is the last admin key.`)
  if (own.expiresAt !== null || others.some(({ expiresAt }) => expiresAt === null)) return
  const names = others.slice(0, 5).map(({ name, expiresAt }) => `${name} at ${expiresAt}`)
  throw lastKey(`${own.name} is the last admin key that does not expire (${names.join(', ')}).`)
}

const isAdmin = ({ scopes, revokedAt, expiresAt }: ApiKey): boolean =>
  scopes.includes('admin') && revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now())

const lastKey = (message: string) =>
  new TooldexError('IN_USE', message, {
    hint: `First create another key with the scope admin that does not expire. ${recoveryHint}`,
  })

/** Revokes a key. */
export const revokeKey = defineOperation({
  name: 'keys.revoke',
  summary: 'Revoke an API key immediately and permanently.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'delete', path: '/keys/{idOrName}', tag, endsKeys: true },
  input: z.object({ idOrName: IdOrName }),
  output: KeyInfo,
  async handle({ idOrName }, context) {
    return context.registry.stores.keys.revoke(context.caller, idOrName, refuseLast)
  },
})
