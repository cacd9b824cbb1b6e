import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { composeProcess } from '../../src/app/compose.ts'
import { TooldexError, toErrorBody } from '../../src/base/errors.ts'
import { RegistryFeed } from '../../src/operations/catalog/registry-feed.ts'
import { createToolCheck } from '../../src/operations/checks/check-tool.ts'
import { invoke } from '../../src/operations/invoke.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { generateKey } from '../../src/operations/registry/keys.ts'
import { createLocalClient, type RegistryClient } from '../../src/operations/registry-client/registry-client.ts'
import { openRemoteClient } from '../../src/operations/registry-client/remote-client.ts'
import { createStores } from '../../src/storage/index.ts'
import { createRestApp } from '../../src/surfaces/rest/create-app.ts'
import { openMigrated } from './migrated-database.ts'
import { runInProcess } from './run-in-process.ts'
import { type RequestOptions, readAnswer } from './start-server.ts'

/** One request in the words of each surface. */
export interface Request {
  readonly operation: unknown
  readonly input: Record<string, unknown>
  readonly words: readonly string[]
  readonly rest: readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>]
}

/** A registry of its own, asked through one surface. */
export interface World {
  readonly name: string
  ask(request: Request): Promise<unknown>
  close(): Promise<void>
}

export const registryKey = 'tdx_a_key_for_tests_only_0123456789'

/** A registry in this process, with the parts that surfaces need; `request` calls its REST API as an admin. */
export async function openRegistry(configs: readonly string[] = []) {
  const database = await openMigrated()
  const stores = createStores(database)
  const { prefix, hash } = generateKey(registryKey)
  const context = { ...composeProcess({ configs }), registry: { stores, check: createToolCheck({}) } }
  await stores.keys.create(context.caller, { name: 'admin', prefix, hash, scopes: ['admin'] })
  const feed = new RegistryFeed({ stores, catalog: context.catalog, workspace: 'default', logger: context.logger })
  const app = createRestApp({
    context,
    ready: async () => [],
    memoryOf: () => context.memory,
    catalogOf: async () => context.catalog,
  })
  const request = (method: string, path: string, { body, key = registryKey, headers }: RequestOptions = {}) =>
    readAnswer(
      app.request(`http://localhost/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  return { context, app, database, request, sync: () => feed.sync(), close: () => database.close() }
}

/** The same registry four times: in the library, behind commands, behind commands that ask a server, behind HTTP. */
export async function openWorlds(): Promise<readonly World[]> {
  return [await openLibrary(), await openCommands(), await openRemoteCommands(), await openRest()]
}

async function openLibrary(): Promise<World> {
  const { context, sync, close } = await openRegistry()
  const ask = async ({ operation, input }: Request) => {
    await sync()
    try {
      return await invoke(operation as Operation<never, never>, input, context)
    } catch (error) {
      if (error instanceof TooldexError) return { error: toErrorBody(error) }
      throw error
    }
  }
  return { name: 'library', ask, close }
}

async function openCommands(): Promise<World> {
  const { context, sync, close } = await openRegistry()
  const client = createLocalClient(context)
  const ask = async ({ words }: Request) => {
    await sync()
    return JSON.parse((await runInProcess([...words, '--json'], { openRegistry: async () => client })).out)
  }
  return { name: 'commands', ask, close }
}

async function openRemoteCommands(): Promise<World> {
  const { app, sync, close } = await openRegistry()
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connect = async (url: string | undefined): Promise<RegistryClient> =>
    openRemoteClient({ url: String(url), key: registryKey }, new AbortController().signal)
  const ask = async ({ words }: Request) => {
    await sync()
    const { out } = await runInProcess([...words, '--server', address, '--json'], { openRegistry: connect })
    return JSON.parse(out)
  }
  const stop = async () => {
    await new Promise((resolve) => server.close(resolve))
    await close()
  }
  return { name: 'commands that ask a server', ask, close: stop }
}

async function openRest(): Promise<World> {
  const { app, sync, close } = await openRegistry()
  const ask = async ({ rest: [method, path, body, headers] }: Request) => {
    await sync()
    const response = await app.request(`http://localhost/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${registryKey}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Record<string, unknown>
    if (response.ok) return answer
    const { code, detail: message, hint, retryable, errors } = answer
    return { error: { code, message, hint, retryable, errors } }
  }
  return { name: 'HTTP', ask, close }
}
