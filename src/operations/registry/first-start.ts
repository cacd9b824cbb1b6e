import { TooldexError } from '../../base/errors.ts'
import { exampleToolsDir } from '../../base/package-info.ts'
import type { Stores } from '../../contract/stores.ts'
import { readSetting } from '../../rules/settings.ts'
import { readBundleFolder } from '../../sources/bundle/index.ts'
import { invoke } from '../invoke.ts'
import type { ServerContext } from '../operation.ts'
import { importBundle } from './bundles.ts'
import { generateKey, hashKey } from './keys.ts'

const minKeyLength = 16

/** Without an admin key only local clients may connect. */
export async function requireKeyForRemoteHost(host: string, stores: Stores): Promise<void> {
  if (host === '127.0.0.1' || host === 'localhost' || host === '::1') return
  if ((readSetting('TOOLDEX_API_KEY') ?? '').length >= minKeyLength || (await stores.keys.count()) > 0) return
  throw new TooldexError(
    'USAGE',
    `Listening on ${host} accepts remote clients, which needs an admin key of at least ${minKeyLength} characters.`,
    {
      hint: 'Set TOOLDEX_API_KEY to a long random secret first, or listen on 127.0.0.1.',
    },
  )
}

/** Creates the admin key at the first start, from TOOLDEX_API_KEY if it is set. */
export async function createFirstKey(stores: Stores): Promise<string | undefined> {
  if ((await stores.keys.count()) > 0) return undefined
  const apiKey = readSetting('TOOLDEX_API_KEY')
  rejectShortKey(apiKey)
  const { secret, prefix: start, hash } = generateKey(apiKey)
  // Of a short secret, a prefix of the usual length would be most of it.
  const prefix = start.slice(0, Math.floor(secret.length / 4))
  const caller = { workspace: 'default', actor: 'first start' }
  try {
    await stores.keys.create(caller, { name: 'admin', prefix, hash, scopes: ['admin'] })
    return secret
  } catch (error) {
    // Another process was first.
    if (error instanceof TooldexError && error.code === 'NAME_TAKEN') return undefined
    throw error
  }
}

/** Rejects an admin key that is easy to guess. */
function rejectShortKey(apiKey: string | undefined): void {
  if (!apiKey || apiKey.length >= minKeyLength) return
  throw new TooldexError(
    'USAGE',
    `TOOLDEX_API_KEY is too short for the admin key: it has fewer than ${minKeyLength} characters.`,
    {
      hint: 'Set it to a long random secret, or unset it to generate a key.',
    },
  )
}

/** Whether TOOLDEX_API_KEY is a key of this database. */
export async function isApiKeyStored(stores: Stores): Promise<boolean> {
  const secret = readSetting('TOOLDEX_API_KEY')
  return secret !== undefined && (await stores.keys.find(hashKey(secret))) !== undefined
}

/** Registers the example tools if the registry is empty; returns whether it did. */
export async function registerExamples(context: ServerContext): Promise<boolean> {
  if (await hasTools(context)) return false
  const { bundle } = await readBundleFolder(exampleToolsDir)
  try {
    await invoke(importBundle, { bundle }, context)
    return true
  } catch (thrown) {
    // A process that started at the same time has registered them; imports are atomic.
    if (thrown instanceof TooldexError && (await hasTools(context))) return false
    throw thrown
  }
}

async function hasTools(context: ServerContext): Promise<boolean> {
  const { items } = await context.registry.stores.tools.list(context.caller.workspace, { limit: 1 })
  return items.length > 0
}
