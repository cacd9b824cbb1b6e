import { describe, expect, it } from 'vitest'
import type { Backend, CatalogEvent, CatalogToolInput } from '../contract/catalog.ts'
import { Catalog } from './catalog.ts'

const local: Backend = { kind: 'local', name: 'here' }
const provider: Backend = { kind: 'provider', providerId: 'p', toolId: 't' }
const mcp: Backend = { kind: 'mcp', serverName: 's' }

/** `namespace:name` as a tool. */
function tool(id: string, rest: Partial<CatalogToolInput> = {}): CatalogToolInput {
  const [name = '', namespace] = id.split(':').reverse()
  const place = namespace === undefined ? {} : { namespace }
  return { name, ...place, description: `Does ${id}`, inputSchema: { type: 'object' }, ...rest }
}

/** A catalog and what its listeners were told. */
function listened() {
  const catalog = new Catalog()
  const events: CatalogEvent[] = []
  catalog.onChange((event) => events.push(event))
  return { catalog, events }
}

describe('registration', () => {
  it('B3.4: a first one is registered, the same again updated, with its tags replaced', () => {
    const { catalog, events } = listened()
    expect(catalog.version).toBe(0)
    expect(catalog.register(tool('z:commit', { tags: ['Old'] }), mcp)).toBe('z:commit')
    catalog.register(tool('z:commit', { tags: ['New'], summary: 'Short' }), mcp)
    expect(events).toEqual([
      { type: 'registered', version: 1, id: 'z:commit', backend: mcp },
      { type: 'updated', version: 2, id: 'z:commit', backend: mcp },
    ])
    expect(catalog.get('z:commit')?.tool).toMatchObject({ tags: ['new'], summary: 'Short' })
    expect(catalog.searchDocs()[0]?.summary).toMatchObject({ tags: ['new'], shortDescription: 'Short' })
    expect(catalog.size).toBe(1)
  })

  it('B3.4: a backend that is known stays in its place, another is added', () => {
    const catalog = new Catalog()
    for (const backend of [mcp, provider, { ...mcp }, { ...mcp, serverName: 's2' } as const]) {
      catalog.register(tool('a'), backend)
    }
    expect(catalog.backendsOf('a')).toEqual([mcp, provider, { kind: 'mcp', serverName: 's2' }])
  })

  it.each([
    ['title', { title: 'T' }],
    ['description', { description: 'other' }],
    ['inputSchema', { inputSchema: { type: 'object', required: ['x'] } }],
    ['outputSchema', { outputSchema: {} }],
    ['annotations', { annotations: { readOnlyHint: true } }],
  ])('B3.5: another %s is refused, and nothing changes', (field, change) => {
    const { catalog, events } = listened()
    catalog.register(tool('z:commit'), local)
    expect(() => catalog.register(tool('z:commit', { ...change, tags: ['x'] }), mcp)).toThrow(
      expect.objectContaining({
        code: 'INPUT_INVALID',
        message: 'tool "z:commit" differs from its registration',
        problems: [expect.objectContaining({ pointer: `/${field}` })],
      }),
    )
    expect([catalog.version, events.length, catalog.backendsOf('z:commit').length]).toEqual([1, 1, 1])
    expect(catalog.get('z:commit')?.tool.tags).toEqual([])
  })

  it('B3.6: schemas are the same by their JSON value, whatever the order of keys', () => {
    const catalog = new Catalog()
    catalog.register(tool('a', { inputSchema: { type: 'object', minProperties: 1, x: { a: -0, b: 2 } } }), local)
    const again = JSON.parse('{"x":{"b":2.0,"a":0},"minProperties":1.0,"type":"object"}')
    catalog.register(tool('a', { inputSchema: { ...again, left: undefined } }), local)
    expect(catalog.version).toBe(2)
    const other = { type: 'object', minProperties: 1, x: { a: 0, b: '2' } }
    expect(() => catalog.register(tool('a', { inputSchema: other }), local)).toThrow('differs')
  })

  it('B3.7: no two backends are taken for one', () => {
    const catalog = new Catalog()
    const backends: Backend[] = [
      { kind: 'provider', providerId: 'a:b', toolId: 'c' },
      { kind: 'provider', providerId: 'a', toolId: 'b:c' },
      { kind: 'provider', providerId: 'a","b', toolId: 'c' },
      { kind: 'local', name: 'a:b:c' },
      { kind: 'mcp', serverName: 'a:b:c' },
    ]
    for (const backend of backends) catalog.register(tool('a'), backend)
    expect(catalog.backendsOf('a')).toEqual(backends)
  })

  it('B3.8: the default backend is local, then provider, then mcp, the first of a kind', () => {
    const catalog = new Catalog()
    const pick = () => catalog.get('a')?.backend
    catalog.register(tool('a'), mcp)
    catalog.register(tool('a'), { kind: 'mcp', serverName: 'a-second' })
    expect(pick()).toEqual(mcp)
    catalog.register(tool('a'), provider)
    expect(pick()).toEqual(provider)
    catalog.register(tool('a'), local)
    catalog.register(tool('a'), { kind: 'local', name: 'a-second' })
    expect(pick()).toEqual(local)
  })

  it('B3.8: another selector may choose', () => {
    const catalog = new Catalog({ selectBackend: (backends) => backends.at(-1) as Backend })
    for (const backend of [local, mcp]) catalog.register(tool('a'), backend)
    expect(catalog.get('a')?.backend).toEqual(mcp)
  })

  it('B3.10: backends without a name are refused', () => {
    const bad = [
      { kind: 'provider', providerId: '', toolId: 't' },
      { kind: 'provider', providerId: 'p', toolId: '' },
      { kind: 'local', name: '' },
      { kind: 'mcp' },
      { kind: 'http', url: 'x' },
    ]
    for (const backend of bad) {
      expect(() => new Catalog().register(tool('a'), backend as Backend), JSON.stringify(backend)).toThrow(
        expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(/^invalid backend: /) }),
      )
    }
  })

  it('B3.12: a batch is registered whole', () => {
    const { catalog, events } = listened()
    const sizes: number[] = []
    catalog.onChange(() => sizes.push(catalog.size))
    const both = { tool: tool('a:x'), backend: local }
    expect(catalog.registerMany([both, { tool: tool('b:y'), backend: mcp }, { ...both, backend: mcp }])).toEqual([
      ...['a:x', 'b:y', 'a:x'],
    ])
    expect(events.map(({ type, version }) => [type, version])).toEqual([
      ...[['registered', 1] as const, ['registered', 2] as const, ['updated', 3] as const],
    ])
    expect(sizes).toEqual([2, 2, 2])
  })

  it.each([
    ['an invalid tool', { tool: tool('bad name'), backend: local }, 'invalid tool at index 1: name contains'],
    ['an invalid backend', { tool: tool('b'), backend: { kind: 'local', name: '' } as const }, 'index 1'],
    ['a tool that differs', { tool: tool('old', { title: 'x' }), backend: local }, '"old" differs'],
    ['a tool that differs from one before it', { tool: tool('a', { title: 'x' }), backend: local }, '"a" differs'],
  ])('B3.12: a batch with %s is refused whole', (_, second, message) => {
    const { catalog, events } = listened()
    catalog.register(tool('old'), local)
    expect(() => catalog.registerMany([{ tool: tool('a'), backend: local }, second])).toThrow(message)
    expect([catalog.size, catalog.version, events.length]).toEqual([1, 1, 1])
  })
})

describe('removal', () => {
  it('B3.9: a backend goes first, the tool and its namespace with the last', () => {
    const { catalog, events } = listened()
    for (const backend of [local, mcp]) catalog.register(tool('a:x'), backend)
    catalog.register(tool('b:x'), local)
    catalog.unregister('a:x', { ...local })
    expect(catalog.get('a:x')?.backend).toEqual(mcp)
    expect(catalog.namespaces()).toEqual(['a', 'b'])
    catalog.unregister('a:x', mcp)
    expect(events.slice(3)).toEqual([
      { type: 'backendRemoved', version: 4, id: 'a:x', backend: local },
      { type: 'toolRemoved', version: 5, id: 'a:x', backend: mcp },
    ])
    expect([catalog.get('a:x'), catalog.size, catalog.namespaces()]).toEqual([null, 1, ['b']])
    expect(catalog.get('x')?.tool.namespace).toBe('b')
    catalog.register(tool('a:x', { description: 'may be another now' }), local)
  })

  it('B3.11: removing an unknown tool fails', () => {
    const catalog = new Catalog()
    catalog.register(tool('a:x'), local)
    const missing = (message: string) => expect.objectContaining({ code: 'TOOL_NOT_FOUND', message })
    expect(() => catalog.unregister('a:y', local)).toThrow(missing('tool not found: a:y'))
    expect(() => catalog.unregister('a:x', mcp)).toThrow(missing('backend not found'))
    expect(() => catalog.backendsOf('x')).toThrow(missing('tool not found: x'))
    expect(catalog.version).toBe(1)
  })
})

describe('get', () => {
  it('B3.1: finds by id in any spelling', () => {
    const catalog = new Catalog()
    catalog.register(tool('a:x', { version: '3' }), local)
    catalog.register(tool('y', { version: '2' }), local)
    expect(catalog.get('a:x@3')).toEqual(catalog.get('a:x:3'))
    expect(catalog.get('y@2')?.tool.name).toBe('y')
    expect([catalog.get('a:x'), catalog.get('a:x:4'), catalog.get('nope')]).toEqual([null, null, null])
    expect(() => catalog.get('a::c')).toThrow("'a::c' is not a valid tool id.")
  })

  it('finds by a bare name that is unique, and lists the candidates of one that is not', () => {
    const catalog = new Catalog()
    catalog.register(tool('b:x'), local)
    expect(catalog.get('x')?.tool.namespace).toBe('b')
    catalog.register(tool('a:x'), local)
    expect(() => catalog.get('x')).toThrow(
      expect.objectContaining({ code: 'INPUT_INVALID', message: 'tool name "x" is ambiguous: a:x, b:x' }),
    )
    catalog.register(tool('x'), local)
    expect(catalog.get('x')?.tool).not.toHaveProperty('namespace')
    expect(catalog.get('constructor')).toBeNull()
  })

  it('B3.22: namespaces are sorted, with "" for tools that have none', () => {
    const catalog = new Catalog()
    for (const id of ['b:x', 'a:x', 'b:y', 'z']) catalog.register(tool(id), local)
    expect(catalog.namespaces()).toEqual(['', 'a', 'b'])
  })

  it('B3.15: search documents are sorted by id, kept until a change, and read only', () => {
    const catalog = new Catalog()
    for (const id of ['b:x', 'a:x']) catalog.register(tool(id), local)
    const docs = catalog.searchDocs()
    expect(docs.map(({ id }) => id)).toEqual(['a:x', 'b:x'])
    expect(catalog.searchDocs()).toBe(docs)
    expect(() => docs[0]?.summary.tags.push('x')).toThrow(TypeError)
    catalog.register(tool('c:x'), local)
    expect(catalog.searchDocs()).toHaveLength(3)
  })
})

describe('events', () => {
  it('B3.13: are sent after the change, in the order of listeners; a listener that throws does not affect the others', () => {
    const errors: unknown[] = []
    const catalog = new Catalog({
      onListenerError: (error) => {
        errors.push(error)
        throw error
      },
    })
    const heard: string[] = []
    catalog.onChange((event) => heard.push(`first ${event.version} ${catalog.size}`))
    catalog.onChange(() => {
      throw new Error('no')
    })
    catalog.onChange((event) => heard.push(`last ${event.version} ${catalog.version}`))
    catalog.register(tool('a'), local)
    catalog.refresh()
    expect(heard).toEqual(['first 1 1', 'last 1 1', 'first 2 1', 'last 2 2'])
    expect(errors).toHaveLength(2)
  })

  it('B3.13: a listener that rejects is reported and does not affect the others', async () => {
    const errors: unknown[] = []
    const catalog = new Catalog({ onListenerError: (error) => errors.push(error) })
    catalog.onChange(async () => Promise.reject(new Error('late')))
    catalog.refresh()
    await new Promise(setImmediate)
    expect(errors).toEqual([new Error('late')])
  })

  it('B3.13: unsubscribing ends one subscription, may be repeated, and works inside a listener', () => {
    const catalog = new Catalog()
    let heard = 0
    const listener = () => {
      heard += 1
    }
    const ends = [catalog.onChange(() => ends[1]?.()), catalog.onChange(listener), catalog.onChange(listener)]
    catalog.refresh()
    expect(heard).toBe(1)
    for (const end of [...ends, ...ends]) end()
    catalog.refresh()
    expect(heard).toBe(1)
  })

  it('B3.13: a change made by a listener is sent after the current one', () => {
    const catalog = new Catalog()
    const heard: number[] = []
    catalog.onChange(({ version }) => void (version < 3 && catalog.refresh()))
    catalog.onChange(({ version }) => heard.push(version))
    catalog.refresh()
    expect(heard).toEqual([1, 2, 3])
  })

  it('B3.14: refresh raises the version and sends an event', () => {
    const { catalog, events } = listened()
    catalog.register(tool('a'), local)
    expect(catalog.refresh()).toBe(2)
    expect(events.at(-1)).toEqual({ type: 'refreshed', version: 2 })
  })
})

describe('calls', () => {
  const backend = { kind: 'local', name: 'app' } as const
  const greet = {
    name: 'greet',
    inputSchema: {
      type: 'object',
      properties: { who: { type: 'string' }, times: { type: 'integer', default: 1 } },
      required: ['who'],
    },
    outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  }

  it('run the function that a program registered, with defaults filled in', async () => {
    const catalog = new Catalog()
    catalog.register(greet, backend, ({ args, tool }) => ({ text: `${tool.name} ${args.who} ${args.times}` }))
    expect(await catalog.call('greet', { who: 'Ann' })).toEqual({ text: 'greet Ann 1' })
  })

  it('are refused before the function runs, and after it returned something else', async () => {
    const catalog = new Catalog()
    let runs = 0
    catalog.register(greet, backend, () => ++runs)
    await expect(catalog.call('greet', { who: 5 })).rejects.toMatchObject({ code: 'INPUT_INVALID' })
    expect(runs).toBe(0)
    await expect(catalog.call('greet', { who: 'Ann' })).rejects.toMatchObject({ code: 'OUTPUT_INVALID' })
    await expect(catalog.call('nobody')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
    await expect(catalog.call('')).rejects.toMatchObject({ code: 'INPUT_INVALID' })
    const aborted = catalog.call('greet', { who: 'Ann' }, { signal: AbortSignal.abort() })
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
    expect(runs).toBe(1)
  })

  it('go to the runner of the catalog where a tool has no function, and pass on what it throws', async () => {
    const catalog = new Catalog({
      run: ({ backend: { kind } }) => {
        throw new RangeError(`no ${kind}`)
      },
    })
    catalog.register({ name: 'remote', inputSchema: {} }, { kind: 'mcp', serverName: 's' })
    await expect(catalog.call('remote')).rejects.toThrow(new RangeError('no mcp'))
  })

  it('end with the registration of the function', async () => {
    const catalog = new Catalog()
    catalog.register({ name: 'gone', inputSchema: {} }, backend, () => 'ran')
    expect(await catalog.call('gone')).toBe('ran')
    catalog.unregister('gone', backend)
    catalog.register({ name: 'gone', inputSchema: {} }, backend)
    await expect(catalog.call('gone')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })

  it('are refused for a tool that is a draft or disabled', async () => {
    const catalog = new Catalog()
    catalog.register({ name: 'draft', inputSchema: {}, status: 'DRAFT' }, backend, () => 'ran')
    await expect(catalog.call('draft')).rejects.toMatchObject({ code: 'TOOL_DISABLED' })
  })
})

describe('icons and _meta', () => {
  it('are kept, and part of what a tool is', () => {
    const catalog = new Catalog()
    const backend = { kind: 'local', name: 'app' } as const
    const tool = { name: 'a', inputSchema: {}, icons: [{ src: 'a.png', sizes: ['48x48'] }], _meta: { 'x/y': 1 } }
    catalog.register(tool, backend)
    expect(catalog.get('a')?.tool).toMatchObject({ icons: tool.icons, _meta: tool._meta })
    expect(() => catalog.register({ ...tool, _meta: { 'x/y': 2 } }, backend)).toThrow('differs')
  })
})
