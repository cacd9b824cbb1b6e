import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import type { Caller, Stores } from '../src/contract/stores.ts'
import { invoke } from '../src/operations/invoke.ts'
import { SearchMemories } from '../src/operations/learning/search-memory.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { searchTools } from '../src/operations/search/search-tools.ts'
import { createStores, type Database, openDatabase } from '../src/storage/index.ts'
import { openMigrated } from './support/migrated-database.ts'
import { draft } from './support/rest.ts'
import { runInline } from './support/run-here.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFolder } from './support/temp-folder.ts'

const on = { TOOLDEX_LEARNING: 'on' }
const query = 'print something on the screen for me'
const echo = 'coreutils:coreutils_echo'
let postgres: SharedPostgres | undefined
afterAll(() => postgres?.stop())

const engines = {
  embedded: () => openMigrated(),
  PostgreSQL: async () => {
    postgres ??= await sharedPostgres()
    return openMigrated({ url: await postgres.createDatabase() })
  },
}

describe.each(Object.entries(engines))('learning in the database: %s', (_name, open) => {
  const composed = composeProcess({ configs: ['coreutils'] })
  let database: Database
  let stores: Stores
  beforeAll(async () => {
    database = await open()
    stores = createStores(database)
    const draft = { name: 'first', hash: 'h', prefix: 'p', scopes: ['read'] as const }
    await stores.keys.create({ workspace: 'other', actor: 'tester' }, draft)
  })
  afterAll(() => database?.close())

  /** A process of its own on the same database. */
  function replica() {
    const memories = new SearchMemories({ store: stores.learning, loadEmbedder: composed.loadEmbedder })
    const contextOf = (caller: Caller) => ({ ...composed, caller, memory: memories.of(caller.workspace) })
    const learned = async (workspace: string, asked: string): Promise<number> => {
      const context = contextOf({ workspace, actor: 'reader' })
      const { explained } = await invoke(searchTools, { query: asked, explainTool: 'coreutils_echo' }, context)
      return explained?.explanation?.signals.learned ?? 0
    }
    return { memories, contextOf, learned }
  }

  it('learns in one process and is seen by another within seconds, in its own workspace only', async () => {
    const [here, there] = [replica(), replica()]
    const before = await there.learned('default', query)
    const someone = { workspace: 'default', actor: 'key:one' }
    const context = here.contextOf(someone)
    const call = { name: 'coreutils_echo', arguments: { message: 'hello' } }
    await invoke(searchTools, { query, limit: 20 }, context)
    await invoke(callTool, call, here.contextOf({ ...someone, actor: 'key:two' }))
    await here.memories.settled()
    expect((await stores.learning.since('default')).total, 'who did not search is not credited').toBe(0)
    await invoke(callTool, call, context)
    await here.memories.settled()
    expect((await stores.learning.since('default')).items).toMatchObject([{ query, toolId: echo, successes: 1 }])
    expect(await here.learned('default', query)).toBeGreaterThan(before)
    await expect.poll(() => there.learned('default', query)).toBeGreaterThan(before)
    expect(await here.learned('other', query)).toBe(before)
    expect(await replica().learned('other', query)).toBe(before)

    expect(await here.memories.of('default').forget(someone)).toBe(1)
    expect(await here.learned('default', query)).toBe(before)
    await expect.poll(() => there.learned('default', query)).toBe(before)
  })

  it('keeps and uses nothing where it is switched off', async () => {
    const memory = new SearchMemories({ store: undefined, loadEmbedder: composed.loadEmbedder }).of('default')
    const someone = { workspace: 'default', actor: 'key:one' }
    memory.noteSearch(someone, query, [echo])
    memory.noteSuccess(someone, echo)
    await memory.settled()
    expect([memory.place, await memory.experiences(), await memory.votes(query)]).toEqual([undefined, [], undefined])
    expect((await stores.learning.since('default')).total).toBe(0)
  })

  it('goes on searching while the database is away', async () => {
    const away = { ...stores.learning, since: () => Promise.reject(new Error('away')) } as typeof stores.learning
    const memory = new SearchMemories({ store: away, loadEmbedder: composed.loadEmbedder }).of('default')
    expect(await memory.votes(query)).toBeUndefined()
  })
})

describe('learning of a server', () => {
  let server: TestServer
  let database: Database
  beforeAll(async () => {
    postgres ??= await sharedPostgres()
    const url = await postgres.createDatabase()
    server = await startServer({ database: url, words: ['coreutils'], env: on })
    database = await openDatabase({ url })
  })
  afterAll(async () => {
    await database?.close()
    await server?.stop()
  })

  it('is shown and forgotten over HTTP and by commands', async () => {
    await createStores(database).learning.note('default', query, echo)
    expect((await server.request('GET', '/learning')).body).toEqual({
      keptIn: 'the database',
      count: 1,
      latest: [{ query, toolIds: [echo] }],
    })
    const env = { ...on, TOOLDEX_API_KEY: server.key, TOOLDEX_HOME: tempFolder() }
    expect((await runInline(['learning', '--server', server.url], { env })).stdout).toContain(query)
    const forgotten = await runInline(['learning', '--server', server.url, '--reset'], { env })
    expect(forgotten.stdout).toBe('Learned queries deleted from the database: 1\n')
    expect((await server.request('DELETE', '/learning')).body).toEqual({ keptIn: 'the database', forgotten: 0 })
    expect((await server.request('GET', '/learning', { key: 'wrong' })).status).toBe(401)
  })

  it('learns from calls that wait, that a model makes, and that are followed, each once', async () => {
    const learned = async () => (await server.request('GET', '/learning')).body.latest
    const search = async (asked: string) => {
      const { body } = await server.request('POST', '/search', { body: { query: asked, limit: 20 } })
      expect(body.results.map(({ id }: { id: string }) => id)).toContain(echo)
    }
    const input = { message: 'hello' }
    await search('echo a message once')
    const execute = { body: { input, wait: true } }
    expect((await server.request('POST', '/tools/coreutils_echo/execute', execute)).body.status).toBe('SUCCESS')
    await expect.poll(learned).toContainEqual({ query: 'echo a message once', toolIds: [echo] })
    await search('echo a message for a model')
    await server.request('POST', '/llm/tools/coreutils_echo/invoke', { body: { arguments: input } })
    await expect.poll(learned).toContainEqual({ query: 'echo a message for a model', toolIds: [echo] })
    await search('echo a message that is followed')
    const queued = await server.request('POST', '/tools/coreutils_echo/execute', { body: { input } })
    const read = async () => (await server.request('GET', `/executions/${queued.body.id}`)).body.status
    await expect.poll(read).toBe('SUCCESS')
    await expect.poll(learned).toContainEqual({ query: 'echo a message that is followed', toolIds: [echo] })
    await read()
    expect(await createStores(database).learning.since('default')).toMatchObject({
      items: [{ successes: 1 }, { successes: 1 }, { successes: 1 }],
    })
  })

  it('learns which registered tool a search led to', async () => {
    const sayWords = draft('say_words', {
      description: 'Says words.',
      executorType: 'python',
      executorConfig: {},
      scriptContent: 'def main(arguments):\n    return "words"\n',
    })
    const made = await server.request('POST', '/tools', { body: sayWords })
    expect(made.status, made.text).toBe(201)
    await server.request('POST', '/tools/say_words/activate')
    const asked = { body: { query: 'say words' } }
    const search = async () => (await server.request('POST', '/search', asked)).text
    await expect.poll(search).toContain('say_words')
    const called = await server.request('POST', '/tools/say_words/execute', { body: { input: {}, wait: true } })
    expect(called.body.status, called.text).toBe('SUCCESS')
    const learned = async () => (await server.request('GET', '/learning')).body.latest
    await expect.poll(learned).toContainEqual({ query: 'say words', toolIds: ['say_words'] })
  })

  it('is found in the embedded database by commands, beside the file of those without one', async () => {
    const home = tempFolder()
    const embedded = await openMigrated({ home })
    await createStores(embedded).learning.note('default', query, echo)
    await embedded.close()
    const env = { ...on, TOOLDEX_HOME: home }
    expect((await runInline(['learning'], { env })).stdout).toContain('No queries learned yet')
    expect((await runInline(['learning', '--registry', '--reset'], { env })).stdout).toContain(
      'deleted from the database: 1',
    )
  })
})
