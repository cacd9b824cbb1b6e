import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { SecretName, StoredSecret } from '../../contract/secret.ts'
import { defineOperation, type OperationContext } from '../operation.ts'

const tag = 'secrets'

/** Lists secrets. */
export const listSecrets = defineOperation({
  name: 'secrets.list',
  summary: 'List the names of stored secrets; their values are never shown.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'get', path: '/secrets', tag },
  input: z.object({}),
  output: z.object({ items: z.array(StoredSecret) }),
  handle: async (_, context) => ({ items: await context.registry.stores.secrets.list(context.caller.workspace) }),
})

/** Stores a secret. */
export const putSecret = defineOperation({
  name: 'secrets.put',
  summary: 'Store an encrypted secret; tools refer to it as secret:NAME.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'put', path: '/secrets/{name}', tag },
  input: z.strictObject({ name: SecretName, value: z.string().min(1).max(64_000) }),
  output: StoredSecret,
  handle({ name, value }, context) {
    const sealed = boxOf(context).seal(value)
    return context.registry.stores.secrets.put(context.caller, name, sealed)
  },
})

/** Deletes a secret. */
export const removeSecret = defineOperation({
  name: 'secrets.remove',
  summary: 'Delete a secret; calls of tools that refer to it fail from then on.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'delete', path: '/secrets/{name}', tag },
  input: z.object({ name: SecretName }),
  output: StoredSecret,
  handle: ({ name }, context) => context.registry.stores.secrets.remove(context.caller, name),
})

function boxOf(context: OperationContext<'registry'>) {
  const { box } = context.registry
  if (box !== undefined) return box
  throw new TooldexError('SECRET_UNAVAILABLE', 'Secrets cannot be stored here.', {
    hint: 'Send the request to a server.',
  })
}
