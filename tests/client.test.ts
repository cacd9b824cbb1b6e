import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import type { Execution } from '../src/contract/execution.ts'
import type { RegisteredTool } from '../src/contract/registry.ts'
import { followEvents } from '../src/http-client/follow-events.ts'
import { operations } from '../src/operations/index.ts'
import { clientRoutes } from '../src/operations/methods/routes.ts'
import { openRemoteClient } from '../src/operations/registry-client/remote-client.ts'
import { type ClientOptions, createClient, type PagePromise, type TooldexError } from '../src/surfaces/client/index.ts'
import { routes } from '../src/surfaces/rest/routes.ts'
import { openRegistry, registryKey } from './support/open-registry.ts'
import { draft } from './support/rest.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
beforeAll(async () => {
  registry = await openRegistry(['coreutils'])
})
afterAll(() => registry?.close())

/** A client of the registry in this process; `through` sees each request before the server does. */
const clientOf = (through?: (send: () => Promise<Response>, request: Request) => Promise<Response>, more = {}) =>
  createClient({
    url: 'http://localhost',
    key: registryKey,
    fetch: async (url, init) => {
      const request = new Request(url, init)
      const send = async () => registry.app.request(request)
      return through === undefined ? send() : through(send, request)
    },
    ...more,
  })

/** Runs a test against a server that responds as told. */
async function against(respond: RequestListener, test: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const lost = () => Promise.reject(new TypeError('fetch failed'))
const failureOf = (work: Promise<unknown>) =>
  work.then(() => undefined).catch((error: unknown) => error as TooldexError)

describe('the methods of the client', () => {
  it('are the operations with a route', () => {
    const client = createClient({ url: 'http://localhost' }) as unknown as Record<string, Record<string, unknown>>
    const names = routes.map(({ name }) => name).filter((name) => name !== 'tools.searchByAddress')
    expect(Object.keys(clientRoutes).sort()).toEqual([...names].sort())
    for (const name of names) {
      const [group = '', method = ''] = name.replace('registry.', 'tools.').split('.')
      expect(client[group]?.[method], name).toBeTypeOf('function')
    }
    expect(operations.length).toBeGreaterThan(names.length)
  })

  it('have the types of the operations', () => {
    const client = createClient({ url: 'http://localhost', fetch: () => new Promise(() => {}) })
    expectTypeOf(client.tools.get).parameter(0).toEqualTypeOf<{ idOrName: string }>()
    expectTypeOf(client.tools.get).returns.toEqualTypeOf<Promise<RegisteredTool>>()
    expectTypeOf(client.tools.list).returns.toExtend<PagePromise<{ items: RegisteredTool[] }, RegisteredTool>>()
    expectTypeOf<Parameters<typeof client.tools.activate>[0]>().toExtend<{ idOrName: string }>()
    expectTypeOf(client.executions.cancel).returns.resolves.toEqualTypeOf<Execution>()
    expectTypeOf(client.catalog.lint).parameter(0).toEqualTypeOf<Record<string, never> | undefined>()
    // @ts-expect-error: the input is required
    client.tools.get().catch(() => {})
    // @ts-expect-error: an input of another type
    client.tools.get({ idOrName: 3 }).catch(() => {})
    // @ts-expect-error: not a list
    expect(() => client.tools.get({ idOrName: 'x' }).pages()).toBeDefined()
  })

  it('create, read, change and list tools, and iterate over all pages', async () => {
    const client = clientOf()
    for (const name of ['one', 'two', 'three']) {
      await client.tools.create({ ...draft(`paged_${name}`), name: `paged_${name}` } as never)
      await client.tools.activate({ idOrName: `paged_${name}` })
    }
    const page = await client.tools.list({ limit: 2 })
    expect(page.items).toHaveLength(2)
    const names: string[] = []
    for await (const tool of client.tools.list({ limit: 1, search: 'paged_' })) names.push(tool.name)
    expect(names.sort()).toEqual(['paged_one', 'paged_three', 'paged_two'])
    let pages = 0
    for await (const { items } of client.tools.list({ limit: 2, search: 'paged_' }).pages())
      pages += items.length > 0 ? 1 : 0
    expect(pages).toBe(2)
    const changed = await client.tools.change({ idOrName: 'paged_one', description: 'Changed.', expectedVersion: 1 })
    expect(changed.version).toBe(2)
    expect(
      await failureOf(client.tools.change({ idOrName: 'paged_one', description: 'Again.', expectedVersion: 1 })),
    ).toMatchObject({ code: 'STALE' })
    const hits: string[] = []
    for await (const { name } of client.tools.search({ query: 'count lines of a file', limit: 3 })) {
      hits.push(name)
      if (hits.length > 4) break
    }
    expect(hits).toContain('coreutils_wc')
  })
})

describe('errors of the client', () => {
  it('have the code, hint, problems and request id of the server', async () => {
    const client = clientOf()
    expect(await failureOf(client.tools.create({ name: 'x y' } as never))).toMatchObject({
      name: 'TooldexError',
      code: 'INPUT_INVALID',

      hint: expect.stringMatching(/./),
      problems: expect.arrayContaining([expect.objectContaining({ pointer: '/name' })]),
      requestId: expect.stringMatching(/^[\w-]{36}$/),
    })
    expect(await failureOf(clientOf(undefined, { key: 'tdx_wrong' }).tools.list())).toMatchObject({
      code: 'UNAUTHORIZED',
    })
    expect(await failureOf(client.tools.get({ idOrName: '..' }))).toMatchObject({
      code: 'INPUT_INVALID',
      problems: [{ pointer: '/idOrName' }],
    })
    for (const url of ['', 'localhost:7331', 'ftp://x'])
      expect(() => createClient({ url } as ClientOptions)).toThrow(/not a valid URL/)
  })

  it('report a server that is not one, and errors of a later release', async () => {
    await against(
      (_, response) => void response.end('<html></html>'),
      async (url) =>
        expect(await failureOf(createClient({ url }).tools.list())).toMatchObject({
          code: 'UNAVAILABLE',
          message: `The response of ${url} is not JSON.`,
        }),
    )
    await against(
      (_, response) => void response.writeHead(409).end('{"code":"NEW_CODE","detail":"No.","hint":"Wait."}'),
      async (url) =>
        expect(await failureOf(createClient({ url }).tools.list())).toMatchObject({ code: 'INTERNAL', hint: 'Wait.' }),
    )
  })
})

describe('requests of the client', () => {
  it('are repeated after a lost response, and a change runs once', async () => {
    const keys: (string | null)[] = []
    let count = 0
    const client = clientOf(async (send, request) => {
      keys.push(request.headers.get('idempotency-key'))
      count++
      const response = await send()
      return count === 1 ? lost() : response
    })
    const made = await client.categories.create({ name: 'made once' })
    expect(count).toBe(2)
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys[1]).toBe(keys[0])
    const named = (await clientOf().categories.list()).items.filter(({ name }) => name === 'made once')
    expect(named).toMatchObject([made])
  })

  it('are repeated at most as often as the limit', async () => {
    let count = 0
    const client = clientOf(() => {
      count++
      return lost()
    })
    expect(await failureOf(client.tools.list({}, { retries: 2 }))).toMatchObject({ code: 'UNAVAILABLE' })
    expect(count).toBe(3)
  })

  it('are not repeated where a repetition could have another effect', async () => {
    let count = 0
    const client = clientOf(() => {
      count++
      return lost()
    })
    await failureOf(client.keys.create({ name: 'k', scopes: ['read'] }))
    await failureOf(client.tools.change({ idOrName: 'x', description: 'y' }))
    await failureOf(client.tools.delete({ idOrName: 'x' }))
    expect(count).toBe(3)
  })

  it('wait as long as the server requests, or report how long', async () => {
    const times: number[] = []
    await against(
      (_, response) => {
        times.push(performance.now())
        if (times.length === 1)
          response.writeHead(429, { 'retry-after': '1' }).end('{"code":"TOO_BUSY","detail":"Wait."}')
        else response.end('{"items":[]}')
      },
      async (url) => expect(await createClient({ url }).keys.list()).toEqual({ items: [] }),
    )
    expect(Number(times[1]) - Number(times[0])).toBeGreaterThan(990)
    await against(
      (_, response) =>
        void response.writeHead(429, { 'retry-after': '3600' }).end('{"code":"TOO_BUSY","detail":"Wait."}'),
      async (url) => expect(await failureOf(createClient({ url }).keys.list())).toMatchObject({ retryAfter: 3600 }),
    )
  })

  it('report a pause of a call on a server, which the signal of the call ends', async () => {
    await against(
      (_, response) =>
        void response.writeHead(429, { 'retry-after': '50' }).end('{"code":"TOO_BUSY","detail":"Wait."}'),
      async (url) => {
        const stopping = new AbortController()
        const pauses: unknown[] = []
        const onPause = ({ message }: Error, ms: number) => {
          pauses.push([message, Math.floor(ms / 1000)])
          stopping.abort()
        }
        const ignore = () => {}
        const controls = { waitForApproval: false, onOutput: ignore, onStatus: ignore, onPause }
        const call = openRemoteClient({ url, key: 'k' }, stopping.signal).call({ name: 'x', arguments: {} }, controls)
        expect(await failureOf(call)).toMatchObject({ message: `The request to ${url} was cancelled.` })
        expect(pauses).toEqual([['Wait.', 50]])
      },
    )
  })

  it('end with the reason of their signal, and with an error after their time limit', async () => {
    const silent: RequestListener = () => {}
    await against(silent, async (url) => {
      const client = createClient({ url, retries: 0 })
      const stopping = new AbortController()
      const request = failureOf(client.tools.list({}, { signal: stopping.signal }))
      stopping.abort(new Error('stopped'))
      expect(await request).toMatchObject({ message: 'stopped' })
      expect(await failureOf(client.tools.list({}, { signal: stopping.signal }))).toMatchObject({ message: 'stopped' })
      expect(await failureOf(client.tools.list({}, { timeoutMs: 50 }))).toMatchObject({
        code: 'UNAVAILABLE',
        message: `The server at ${url} does not answer within 0.05 s.`,
      })
    })
  })

  it('end with their signal after a garbage collection while the response is read', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const half: RequestListener = ({ url = '' }, response) => {
      response.writeHead(200, { 'content-type': url.endsWith('/events') ? 'text/event-stream' : 'application/json' })
      response.write(url.endsWith('/events') ? 'event: output\ndata: {"seq":1}\n\n' : '{"items":')
    }
    const untilEnd = async (begin: (signal: AbortSignal, onBegun: () => void) => Promise<unknown>) => {
      const stopping = new AbortController()
      let ended: Promise<unknown> | undefined
      await new Promise<void>((resolve) => {
        ended = failureOf(begin(stopping.signal, resolve))
      })
      for (let turn = 0; turn < 10; turn++) {
        await setImmediate()
        collect()
      }
      stopping.abort(new Error('stopped'))
      expect(await ended).toMatchObject({ message: 'stopped' })
    }
    await against(half, async (url) => {
      await untilEnd(async (signal, onBegun) => {
        for await (const _ of followEvents({ url }, 'x', AbortSignal.any([signal]))) onBegun()
      })
      await untilEnd((signal, onBegun) => {
        const watched: typeof fetch = async (...request) => {
          const response = await fetch(...request)
          onBegun()
          return response
        }
        return createClient({ url, fetch: watched }).tools.list({}, { signal })
      })
    })
  })

  it('use the current key of a function', async () => {
    let key = 'tdx_old'
    const client = clientOf(undefined, { key: async () => key })
    expect(await failureOf(client.keys.current())).toMatchObject({ code: 'UNAUTHORIZED' })
    key = registryKey
    expect(await client.keys.current()).toMatchObject({ name: 'admin' })
  })
})
