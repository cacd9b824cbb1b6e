import * as z from 'zod'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { omitUndefined } from '../../base/json-values.ts'
import { SourceName, SourceTrust } from '../../contract/source.ts'
import { approvalHash, approvedCommand } from '../../rules/server-definition.ts'
import { defineOperation } from '../operation.ts'
import { readSource } from './read-source.ts'
import { moveSecrets, serverFields, storeSecrets, toServer } from './server-input.ts'
import { findSource, type SourceContext, SourceDetail, toDetail } from './source-view.ts'
import { refuseTakenNamespace } from './taken-namespace.ts'

const tag = 'sources'
const needs = ['catalog', 'registry', 'sources'] as const
const name = SourceName
const approve = z
  .string()
  .max(64)
  .optional()
  .describe('The hash of the command or URL, to approve it in the same request.')

const secretNames = z
  .array(z.string().max(200))
  .max(200)
  .optional()
  .describe('Variables and headers whose literal values are stored as secrets, beside those with the name of a secret.')

/** Adds an MCP server as a source. */
export const addSource = defineOperation({
  name: 'sources.add',
  summary: 'Add an MCP server as a source of tools; nothing is started before its exact command or URL is approved.',
  subject: 'source',
  scope: 'admin',
  needs,
  http: { method: 'post', path: '/sources', status: 201, tag, location: '/sources/{name}', deadlineMs: 600_000 },
  input: z.strictObject({ name, ...serverFields, secretNames, trust: SourceTrust.default('hold'), approve }),
  output: SourceDetail,
  async handle({ name, trust, approve: hash, secretNames, ...fields }, context) {
    const { server, secrets } = moveSecrets(name, toServer(fields), secretNames)
    context.sources.requireGrants(context.caller.workspace, server)
    await refuseTakenNamespace(context, context.registry.stores, name)
    if (hash !== undefined) requireHash(hash, approvalHash(server))
    const source = await context.registry.stores.transaction(async (stores) => {
      await storeSecrets(context, stores, context.caller, secrets)
      return stores.sources.create(context.caller, { name, server, trust })
    })
    return hash === undefined ? toDetail(context, source) : approveAndRead(context, name, hash)
  },
})

/** Reads a source. */
export const getSource = defineOperation({
  name: 'sources.get',
  summary: 'Read a source with its tools, prompts and resources; its command or URL is for administrators.',
  scope: 'read',
  needs: ['catalog', 'registry', 'sources?'],
  http: { method: 'get', path: '/sources/{name}', tag },
  input: z.object({ name: z.string() }),
  output: SourceDetail,
  handle: async ({ name }, context) => toDetail(context, await findSource(context, name)),
})

/** Approves the command or URL of a source. */
export const approveSource = defineOperation({
  name: 'sources.approve',
  summary: 'Approve the exact command or URL of a source by its hash, then start it once and read what it offers.',
  scope: 'admin',
  needs,
  http: { method: 'post', path: '/sources/{name}/approve', tag, deadlineMs: 600_000 },
  input: z.strictObject({ name: z.string(), hash: z.string().max(64).describe('The hash in approval of the source.') }),
  output: SourceDetail,
  handle: ({ name, hash }, context) => approveAndRead(context, name, hash),
})

/** Changes a source. */
export const changeSource = defineOperation({
  name: 'sources.change',
  summary: 'Change a source; another command, URL, variable or header must be approved again.',
  subject: 'source',
  scope: 'admin',
  needs,
  http: { method: 'patch', path: '/sources/{name}', tag, deadlineMs: 600_000 },
  input: z.strictObject({ name: z.string(), ...serverFields, trust: SourceTrust.optional(), approve }),
  output: SourceDetail,
  async handle({ name, trust, approve: hash, ...fields }, context) {
    const { server: present } = await findSource(context, name)
    const { type, ...others } = present
    const before = { ...others, ...(type === 'sse' && fields.url === undefined ? { type } : {}) }
    const isOther =
      fields.command !== undefined ? !('command' in present) : fields.url !== undefined && 'command' in present
    const { server, secrets } = moveSecrets(name, toServer({ ...(isOther ? {} : before), ...omitUndefined(fields) }))
    context.sources.requireGrants(context.caller.workspace, server)
    if (hash !== undefined) requireHash(hash, approvalHash(server))
    await context.registry.stores.transaction(async (stores) => {
      await storeSecrets(context, stores, context.caller, secrets)
      await stores.sources.change(context.caller, name, (current) => ({
        action: 'change',
        change: { server, trust: trust ?? current.trust },
      }))
    })
    if (hash !== undefined) return approveAndRead(context, name, hash)
    await context.catalog.syncRegistry?.()
    return toDetail(context, await findSource(context, name))
  },
})

/** Reads a source anew from its server. */
export const refreshSource = defineOperation({
  name: 'sources.refresh',
  summary: 'Start the server of a source, read what it offers and compare it with the accepted definitions.',
  scope: 'admin',
  needs,
  http: { method: 'post', path: '/sources/{name}/refresh', tag, deadlineMs: 600_000 },
  input: z.object({ name: z.string() }),
  output: SourceDetail,
  async handle({ name }, context) {
    await findSource(context, name)
    await readSource(context, name)
    return toDetail(context, await findSource(context, name))
  },
})

/** Removes a source. */
export const removeSource = defineOperation({
  name: 'sources.remove',
  summary: 'Remove a source with its tools, and stop its server; secrets that it refers to stay stored.',
  scope: 'admin',
  needs,
  http: { method: 'delete', path: '/sources/{name}', tag },
  input: z.object({ name: z.string() }),
  output: z.object({ name: z.string() }),
  async handle({ name }, context) {
    const { stores } = context.registry
    await findSource(context, name)
    await stores.sources.remove(context.caller, name)
    context.sources.stop({ workspace: context.caller.workspace, name })
    await context.catalog.syncRegistry?.()
    return { name }
  },
})

/** Approves a source, and reads it; a server that cannot be reached stays approved. */
async function approveAndRead(context: SourceContext, name: string, hash: string): Promise<SourceDetail> {
  const { registry, caller, sources } = context
  const { server } = await findSource(context, name)
  sources.requireGrants(caller.workspace, server)
  await registry.stores.sources.change(caller, name, (current) => {
    requireHash(hash, approvalHash(current.server))
    return { action: 'approve', facts: { command: approvedCommand(current.server) }, change: { approvedHash: hash } }
  })
  await readSource(context, name).catch((thrown: unknown) => {
    const { message } = toTooldexError(thrown)
    context.logger.warn(`the source ${name} is approved, but could not be read: ${message}`)
  })
  return toDetail(context, await findSource(context, name))
}

function requireHash(hash: string, present: string): void {
  if (hash === present) return
  throw new TooldexError('STALE', 'The hash is not that of the present command or URL.', {
    hint: 'Read the source, check its command, and approve the hash that it shows.',
  })
}
