import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { composeProcess } from '../../src/app/compose.ts'
import { openExecutors } from '../../src/app/open-executors.ts'
import { RegistryFeed } from '../../src/operations/catalog/registry-feed.ts'
import { generateKey } from '../../src/operations/registry/keys.ts'
import { createLocalClient } from '../../src/operations/registry-client/registry-client.ts'
import { createStores } from '../../src/storage/index.ts'
import { createRestApp } from '../../src/surfaces/rest/create-app.ts'
import { killProcesses, pidsOf } from '../faults/processes.ts'
import { openMigrated } from './migrated-database.ts'
import { registryKey } from './open-registry.ts'
import { projectRoot } from './run-cli.ts'
import { runInProcess } from './run-in-process.ts'
import { type RequestOptions, readAnswer } from './start-server.ts'
import { tempFolder } from './temp-folder.ts'

/** A server whose definitions are those of a file, which tests change. */
export function changingServer(state: object = {}, folder: string = tempFolder()) {
  const file = join(folder, 'state.json')
  // The server reads the file at any time: it must never find a part of it, which would end it with exit code 1.
  const set = (next: object) => {
    writeFileSync(`${file}.next`, JSON.stringify(next))
    renameSync(`${file}.next`, file)
  }
  set(state)
  return {
    set,
    definition: { command: process.execPath, args: [join(projectRoot, 'tests/upstreams/changing-server.mjs'), file] },
    /** The names of the tools that were called so far, in their order. */
    calls: () => (existsSync(`${file}.calls`) ? readFileSync(`${file}.calls`, 'utf8').trim().split('\n') : []),
    /** The process ids of its starts so far, as it sees them: in a namespace of its own they are no ids of this machine. */
    starts: () =>
      existsSync(`${file}.starts`) ? readFileSync(`${file}.starts`, 'utf8').trim().split('\n').map(Number) : [],
    /** Kills its processes and those of its sandbox, which are found by their command lines; returns their number. */
    kill: () => killProcesses(pidsOf(file)),
  }
}

/** A tool of such a server. */
export const tool = (name: string, more: object = {}) => ({
  name,
  description: `Runs ${name} of the archive`,
  inputSchema: { type: 'object', properties: { announce: { type: 'boolean' } } },
  ...more,
})

/** A registry in memory with the servers of its sources; everything ends with the test. */
export async function openSources({
  grants = [],
  PATH = process.env.PATH,
  ...allowed
}: {
  readonly grants?: readonly string[]
  readonly allowFolders?: readonly string[]
  readonly allowNetwork?: boolean
  readonly PATH?: string | undefined
} = {}) {
  const database = await openMigrated()
  const stores = createStores(database)
  const env = {
    ...process.env,
    PATH,
    TOOLDEX_HOME: tempFolder(),
    TOOLDEX_SECRET_KEY: 'a-key-for-tests-only-0123456789-abcdef',
  }
  const { more, box, check, mcp, sources, upstreams, keepSources } = openExecutors(stores, env, {
    servers: new Map(),
    grants,
    ...allowed,
  })
  const lines: string[] = []
  const composed = composeProcess({ configs: [] }, more)
  const logger = { ...composed.logger, warn: (line: string) => void lines.push(line) }
  keepSources(logger)
  const context = { ...composed, logger, registry: { stores, box, check }, sources, upstreams }
  const { prefix, hash } = generateKey(registryKey)
  await stores.keys.create(context.caller, { name: 'admin', prefix, hash, scopes: ['admin'] })
  const feed = new RegistryFeed({ stores, catalog: context.catalog, workspace: 'default', logger })
  await feed.sync()
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
  const client = createLocalClient(context)
  onTestFinished(async () => {
    await mcp.close?.()
    await context.runner.close(2000)
    await database.close()
  })
  const run = (...words: readonly string[]) => runInProcess(words, { openRegistry: async () => client })
  return { context, app, database, stores, client, request, run, mcp, lines, sync: () => feed.syncNow() }
}
