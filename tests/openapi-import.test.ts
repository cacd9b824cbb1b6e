import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { RegisteredTool } from '../src/contract/registry.ts'
import { createHttpExecutor } from '../src/executors/http/http-executor.ts'
import { createLocalClient } from '../src/operations/registry-client/registry-client.ts'
import { openRegistry } from './support/open-registry.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
beforeAll(async () => {
  registry = await openRegistry()
})
afterAll(() => registry.close())

const run = (...words: string[]) =>
  runInProcess(words, { openRegistry: async () => createLocalClient(registry.context) })
const get = async (name: string): Promise<RegisteredTool> => JSON.parse((await run('tools', 'get', name)).out)
const importFile = (text: string, ...words: string[]) => run('import', 'openapi', tempFile('api.yaml', text), ...words)

const shop = `openapi: 3.0.3
info: { title: Shop API, description: Orders and items. }
servers: [{ url: "https://{region}.shop.test/v1/", variables: { region: { default: eu } } }]
security: [{ key: [] }, { token: [] }]
tags: [{ name: orders, description: Everything about orders. }]
paths:
  /orders/{order-id}:
    parameters:
      - { name: order-id, in: path, required: true, schema: { type: string } }
    get:
      operationId: getOrder
      summary: Read an order
      tags: [orders]
      parameters:
        - { name: "fields[]", in: query, schema: { type: array, items: { type: string } }, explode: false, style: form }
        - { name: filter, in: query, style: deepObject, schema: { type: object, properties: { state: { type: string } } } }
        - { name: page, in: query, schema: { type: integer, default: 1 }, example: 2 }
        - { name: X-Request-Id, in: header, schema: { type: string } }
      responses: { "200": { description: ok, content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } } }
    put:
      operationId: shop_put_order
      summary: Replace an order
      tags: [orders]
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Order" }, example: { name: Book, lines: [] } } }
      responses: { "204": { description: done } }
  /orders/{id}/items{;tags*}:
    get:
      tags: [orders]
      parameters:
        - { name: id, in: path, required: true, schema: { type: array, items: { type: integer } } }
        - { name: tags, in: path, required: true, style: matrix, explode: true, schema: { type: array, items: { type: string } } }
      responses: {}
  /upload:
    post:
      operationId: upload
      deprecated: true
      security: [{ login: [] }]
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, properties: { file: { type: string, format: binary }, note: { type: string } }, required: [file] }
      responses: {}
  /login:
    post:
      operationId: login
      security: []
      requestBody:
        required: true
        content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { user: { type: string }, tags: { type: array, items: { type: string } } } } } }
      responses: {}
  /raw:
    post:
      operationId: raw
      security: [{ key: [], session: [] }]
      requestBody: { required: true, content: { image/png: { schema: { type: string, format: binary } } } }
      responses: {}
  /choice:
    post:
      operationId: choice
      security: []
      requestBody: { required: true, content: { application/json: { schema: { oneOf: [{ type: string }, { $ref: "#/components/schemas/Node" }] } } } }
      responses: {}
components:
  securitySchemes:
    key: { type: apiKey, in: query, name: api_key }
    token: { type: http, scheme: bearer }
    login: { type: http, scheme: basic }
    session: { type: apiKey, in: cookie, name: sid }
  schemas:
    Order:
      type: object
      required: [id, name]
      properties:
        id: { type: string, readOnly: true }
        name: { type: string, nullable: true, minLength: 1, x-order: 1 }
        lines: { type: array, items: { $ref: "#/components/schemas/Node" } }
        bad: { type: string, pattern: "(?<=a)b" }
    Node: { type: object, properties: { name: { type: string }, children: { type: array, items: { $ref: "#/components/schemas/Node" } } } }
`

/** A service that keeps the requests it receives. */
async function startService(answer: Buffer | string = '{}', type = 'application/json') {
  const requests: { line: string; headers: Record<string, unknown>; body: Buffer }[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body: Buffer.concat(parts) })
    response.setHeader('content-type', type).end(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests }
}

const executor = createHttpExecutor()

/** Calls an imported tool at the address of a test service. */
async function call(name: string, url: string, input: Record<string, unknown>) {
  const tool = await get(name)
  const { url: stored, ...config } = tool.executorConfig as { url: string }
  const executorConfig = { ...config, url: stored.replace('https://eu.shop.test/v1', url), allowPrivate: true }
  const runnable = { ...tool, id: null, version: null, executorConfig, constraints: [] }
  return executor
    .prepare({ tool: runnable, input, timeoutMs: 60_000 })
    .run({ secret: async (reference) => `<${reference}>` })
}

describe('import openapi', () => {
  it('registers the operations of a document with names, categories, annotations and notes', async () => {
    const dry = await importFile(shop, '--dry-run')
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('+ tool shop_get_order')])
    expect((await run('tools', 'get', 'shop_get_order')).code).toBe(4)
    const { code, out } = await importFile(shop, '--activate', '--auth', 'key=secret:shop')
    expect([code, out]).toEqual([0, expect.stringContaining('bad/pattern is left out')])
    const tool = await get('shop_get_order')
    expect(tool).toMatchObject({
      namespace: 'shop',
      displayName: 'Read an order',
      status: 'ACTIVE',
      tags: ['orders'],
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
      notes: expect.stringContaining('`page` selects the page'),
      inputSchema: {
        required: ['order-id'],
        properties: { page: { type: 'integer', description: 'Default: 1.' }, fields: { type: 'array' } },
      },
      executorConfig: {
        method: 'GET',
        url: 'https://eu.shop.test/v1/orders/{order-id}',
        auth: { type: 'query', name: 'api_key', secret: 'secret:shop' },
      },
    })
    expect((await run('categories', 'tree')).out).toMatch(/^Shop API .*\n\s+Shop API orders/)
    expect(await get('shop_upload')).toMatchObject({ status: 'DEPRECATED' })
    expect((await get('shop_put_order')).annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true })
  })

  it('keeps recursive schemas, without read-only properties, defaults and keywords of OpenAPI', async () => {
    const { inputSchema, examples } = await get('shop_put_order')
    expect(inputSchema).toMatchObject({
      required: ['order-id', 'name'],
      properties: { name: { type: ['string', 'null'], minLength: 1 }, lines: { items: { $ref: '#/$defs/Node' } } },
      $defs: { Node: { properties: { children: { items: { $ref: '#/$defs/Node' } } } } },
    })
    expect(JSON.stringify(inputSchema)).not.toMatch(/x-order|readOnly|"id"|nullable/)
    expect(examples).toEqual([])
    expect((await get('shop_choice')).inputSchema).toMatchObject({ required: ['body'] })
  })

  it('sends parameters in their styles, headers only if given, and the secret of the query', async () => {
    const { url, requests } = await startService()
    const input = { 'order-id': 'a/b', fields: ['x', 'y'], filter: { state: 'open' }, page: 3 }
    expect(await call('shop_get_order', url, input)).toMatchObject({ status: 'SUCCESS' })
    expect(requests[0]?.line).toBe(
      'GET /v1/orders/a%2Fb?fields%5B%5D=x%2Cy&filter%5Bstate%5D=open&page=3&api_key=%3Csecret%3Ashop%3E',
    )
    expect(requests[0]?.headers).not.toHaveProperty('x-request-id')
    await call('shop_get_order', url, { 'order-id': '1', 'X-Request-Id': 'r1' })
    expect(requests[1]?.headers).toMatchObject({ 'x-request-id': 'r1' })
    await call('shop_get_orders_items', url, { id: [1, 2], tags: ['a', 'b c'] })
    expect(requests[2]?.line).toMatch(/^GET \/v1\/orders\/1,2\/items;tags=a;tags=b%20c\?/)
  })

  it('sends bodies as JSON, form, multipart and bytes', async () => {
    const { url, requests } = await startService()
    await call('shop_put_order', url, { 'order-id': '1', name: 'Book' })
    await call('shop_login', url, { user: 'a&b', tags: ['x', 'y'] })
    await call('shop_upload', url, { file: Buffer.from([0, 255]).toString('base64'), note: 'hi "you"' })
    await call('shop_raw', url, { body: Buffer.from([137, 80]).toString('base64') })
    await call('shop_choice', url, { body: 'text' })
    const [json, form, multipart, raw, text] = requests
    expect([json?.headers['content-type'], json?.body.toString()]).toEqual(['application/json', '{"name":"Book"}'])
    expect(form?.body.toString()).toBe('user=a%26b&tags=x&tags=y')
    const parts = await new Response(new Uint8Array(multipart?.body ?? []), {
      headers: { 'content-type': String(multipart?.headers['content-type']) },
    }).formData()
    expect(parts.get('note')).toBe('hi "you"')
    expect(Buffer.from(await (parts.get('file') as File).arrayBuffer())).toEqual(Buffer.from([0, 255]))
    expect(multipart?.headers.authorization).toBe(`Basic ${Buffer.from('<secret:shop_login>').toString('base64')}`)
    expect([raw?.headers['content-type'], raw?.body]).toEqual(['image/png', Buffer.from([137, 80])])
    expect([raw?.headers.cookie, raw?.line]).toEqual(['sid=<secret:shop_session>', expect.stringContaining('api_key=')])
    expect(text?.body.toString()).toBe('"text"')
  })

  it('returns bytes that are not text as base64', async () => {
    const { url } = await startService(Buffer.from([137, 80, 78, 71]), 'image/png; x=1')
    const { output } = await call('shop_login', url, { user: 'a' })
    expect(output).toEqual({ mimeType: 'image/png', base64: 'iVBORw==' })
  })

  it('makes versions of changed operations, keeps missing ones, and prunes only its own', async () => {
    await run(
      'tools',
      'create',
      tempFile(
        'mine.yaml',
        'name: mine\ndescription: M\ninputSchema: {type: object}\nexecutorType: http\nexecutorConfig: {method: GET, url: https://mine.test/}\n',
      ),
    )
    const changed = shop.replace('Read an order', 'Read one order').replace('operationId: raw', 'operationId: bytes')
    const again = await importFile(changed, '--auth', 'key=secret:shop')
    expect(again.out).toMatch(/~ tool shop_get_order/)
    expect(again.out + again.err).toMatch(/not in the document, and kept: shop_raw; prune removes them/)
    expect(await get('shop_get_order')).toMatchObject({ version: 2, status: 'ACTIVE' })
    const pruned = await importFile(changed, '--auth', 'key=secret:shop', '--prune')
    expect(pruned.out).toMatch(/- tool shop_raw/)
    expect(await get('mine')).toMatchObject({ name: 'mine' })
    const none = await importFile(changed, '--auth', 'key=secret:shop')
    expect(none.out).not.toMatch(/[~+-] tool/)
  })

  it('selects operations by id, path and tag', async () => {
    const select = async (...words: string[]) =>
      (await importFile(shop, '--namespace', 'part', '--dry-run', ...words)).out.match(/(?<=\+ tool )\S+/g)
    expect(await select('--include', 'tag:orders', '--exclude', 'GET *')).toEqual(['part_shop_put_order'])
    expect(await select('--include', 'POST /up*')).toEqual(['part_upload'])
    const { code, err } = await importFile(shop, '--include', 'nothing')
    expect([code, err]).toEqual([3, expect.stringMatching(/api\.yaml:\d+:\d+: none of its 7 operations is selected/)])
  })

  it('reads Swagger 2.0', async () => {
    const text = JSON.stringify({
      swagger: '2.0',
      info: { title: 'Pets', version: '1' },
      host: 'pets.test',
      basePath: '/api',
      schemes: ['https'],
      paths: {
        '/pets': {
          post: {
            operationId: 'addPet',
            consumes: ['application/json'],
            parameters: [
              { in: 'body', name: 'pet', required: true, schema: { $ref: '#/definitions/Pet' } },
              { in: 'query', name: 'ids', type: 'array', items: { type: 'string' }, collectionFormat: 'csv' },
            ],
            responses: { 200: { description: 'ok' } },
          },
        },
      },
      definitions: { Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    })
    expect((await importFile(text)).code).toBe(0)
    expect(await get('pets_add_pet')).toMatchObject({
      inputSchema: { required: ['name'], properties: { ids: { type: 'array' }, name: { type: 'string' } } },
      executorConfig: { url: 'https://pets.test/api/pets', body: { name: '{name}' } },
    })
  })

  it('leaves out bodies of GET requests and examples that are too deep, and sends a patch as its own media type', async () => {
    const deep = { a: { b: { c: { d: { e: { f: 1 } } } } } }
    const json = (schema: unknown, more = {}) => ({ 'application/json': { schema, ...more } })
    const object = { type: 'object', properties: { a: {} } }
    const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
    const text = JSON.stringify({
      openapi: '3.0.0',
      info: { title: 'Odd', version: '1' },
      servers: [{ url: 'https://eu.shop.test/v1' }],
      paths: {
        '/odd': {
          get: {
            operationId: 'empty',
            requestBody: { content: json({ type: 'object', properties: {} }) },
            responses: {},
          },
          head: { operationId: 'full', requestBody: { content: json(object) }, responses: {} },
          post: { operationId: 'deep', requestBody: { content: json(object, { example: deep }) }, responses: {} },
          patch: {
            operationId: 'patch',
            requestBody: {
              content: Object.fromEntries(patchTypes.map((type) => [type, { schema: { type: 'object' } }])),
            },
            responses: {},
          },
        },
      },
    })
    const { code, out, err } = await importFile(text)
    expect(code, err).toBe(0)
    const warnings = `${out}${err}`.split('\n').filter((line) => line.includes('has no body'))
    expect(warnings).toEqual([expect.stringContaining('odd_full: a HEAD request has no body')])
    expect((await get('odd_deep')).examples).toEqual([])
    const { url, requests } = await startService()
    await call('odd_empty', url, {})
    await call('odd_patch', url, { body: { a: 1 } })
    expect(requests.map(({ line, body }) => [line, String(body)])).toEqual([
      ['GET /v1/odd', ''],
      ['PATCH /v1/odd', '{"a":1}'],
    ])
    expect(requests[1]?.headers['content-type']).toBe('application/merge-patch+json')
  })

  it.each([
    ['openapi: 4.0.0\npaths: {}\n', /api\.yaml:1:\d+: .*OpenAPI 4\.0\.0 is not supported/],
    ['openapi: 3.1.0\ninfo: {title: A}\n', /the document has no paths/],
    ['openapi: 3.1.0\ninfo: {title: A}\npaths: {/a: {get: {responses: {}}}}\n', /does not state the URL.*--base-url/],
    ['openapi: 3.1.0\npaths: [\n', /api\.yaml:\d+:\d+/],
    ['x-tooldex: {namespaces: a}\nopenapi: 3.1.0\npaths: {/a: {get: {}}}\n', /api\.yaml:1:\d+: .*namespaces/],
  ])('rejects a bad document with its location: %s', async (text, expected) => {
    const { code, err } = await importFile(text)
    expect([code, err]).toEqual([3, expect.stringMatching(expected)])
  })

  it('ignores secrets, private addresses and activation that an imported document states itself', async () => {
    const own = 'x-tooldex: { namespace: evil, auth: { "*": "env:PATH" }, allowPrivate: true, activate: true }'
    const { code, out } = await importFile(`${own}\n${shop}`, '--include', 'getOrder')
    expect([code, out]).toEqual([0, expect.stringContaining('x-tooldex.auth is ignored outside of apply')])
    const { status, executorConfig } = await get('evil_get_order')
    expect([status, JSON.stringify(executorConfig)]).toEqual(['DRAFT', expect.not.stringMatching(/env:|allowPrivate/)])
  })

  it('lists hosts and secrets, and sends no stored secret that only the document names to a host that is new to it', async () => {
    const secret = 'victim_key'
    const { caller, registry: stored } = registry.context
    await stored.stores.secrets.put(caller, secret, 'sealed')
    const evil = shop.replace('title: Shop API', 'title: Victim').replace('{region}.shop.test', 'evil.test')
    const dry = await importFile(evil, '--dry-run')
    expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(/^> evil\.test \(\d+ tools\): .*secret:victim_key/m)])
    expect(dry.out).toContain(`would send the stored secret 'secret:${secret}' to evil.test`)
    const refused = await importFile(evil)
    expect([refused.code, refused.err]).toEqual([7, expect.stringContaining('--auth secret:victim_key')])
    const named = await importFile(evil, '--auth', `key=secret:${secret}`, '--include', 'getOrder')
    expect([named.code, named.out]).toEqual([0, expect.stringContaining('> evil.test')])
    // The pair is known now, so that a second import of the document needs no option.
    expect((await importFile(evil, '--include', 'getOrder')).code).toBe(0)
    const moved = await importFile(evil.replace('evil.test', 'other.test'), '--include', 'getOrder')
    expect([moved.code, moved.err]).toEqual([7, expect.stringContaining('to other.test')])
  })

  it('is part of apply, with the options that the document states', async () => {
    const folder = tempFolder()
    const own = `x-tooldex: { namespace: applied, include: [login], activate: true }\n${shop}`
    tempFile('shop.yaml', own, folder)
    const { code, out } = await run('apply', folder)
    expect([code, out]).toEqual([0, expect.stringContaining('+ tool applied_login')])
    expect(await get('applied_login')).toMatchObject({ namespace: 'applied', status: 'ACTIVE' })
  })
})
