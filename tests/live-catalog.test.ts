import { readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../src/base/logger.ts'
import { Catalog } from '../src/catalog/index.ts'
import type { CatalogEvent } from '../src/contract/catalog.ts'
import type { Source } from '../src/contract/cli-config.ts'
import { LiveCatalog } from '../src/operations/catalog/live-catalog.ts'
import { toClientName } from '../src/rules/tool-id.ts'
import { SearchEngine } from '../src/search/index.ts'
import { createCliSource } from '../src/sources/cli/index.ts'
import { tempFile } from './support/temp-folder.ts'

const config = (tools: Readonly<Record<string, string>>) => {
  const lines = Object.entries(tools).map(([name, description]) => `  - {name: ${name}, description: ${description}}\n`)
  return `name: files\ncommand: echo\ntools:\n${lines.join('')}`
}

const before = { copy: 'duplicate a file', move: 'rename a file', wipe: 'erase a file' }

/** A catalog of one file that can be edited. */
async function openFile() {
  const file = tempFile('files.yaml', config(before))
  const lines: string[] = []
  const logger = createLogger({ level: 'WARNING', stderr: (line) => lines.push(line) })
  const catalog = new LiveCatalog({ source: createCliSource([file]), logger })
  const edit = (text: string) => {
    writeFileSync(file, text)
    return catalog.reload()
  }
  const tools = await catalog.openSearch()
  const find = (query: string) => tools.search({ query, mode: 'bm25' }).hits.map(({ id }) => id)
  return { catalog, tools, edit, find, file, lines }
}

describe('the catalog of a running server', () => {
  it('holds the tools of configs as one local backend', async () => {
    const { tools } = await openFile()
    expect([...tools.entries.keys()]).toEqual(['files:copy', 'files:move', 'files:wipe'])
    expect(tools.get('copy')).toMatchObject({
      tool: { name: 'copy', namespace: 'files', source: 'cli' },
      backend: { kind: 'local', name: 'cli' },
    })
    expect(tools.search().hits[0]).toMatchObject({ source: 'cli', status: 'ACTIVE', readiness: { state: 'ready' } })
  })

  it('takes an edit over by what differs: added, changed and removed, and search follows', async () => {
    const { catalog, tools, edit, find } = await openFile()
    expect([find('rename'), find('erase')]).toEqual([['files:move'], ['files:wipe']])
    const events: CatalogEvent[] = []
    const seen = new Set<string>()
    tools.onChange((event) => {
      events.push(event)
      seen.add([...tools.entries.keys(), catalog.current().index.size, find('relocate')].join())
    })
    expect(edit(config({ copy: 'duplicate a file', move: 'relocate a file', link: 'alias a file' }))).toBe(true)
    expect(events.map((event) => [event.type, 'id' in event && event.id])).toEqual([
      ['toolRemoved', 'files:wipe'],
      ['updated', 'files:move'],
      ['registered', 'files:link'],
    ])
    expect([...seen]).toEqual(['files:copy,files:move,files:link,3,files:move'])
    expect([find('rename'), find('erase'), find('relocate'), find('alias')]).toEqual([
      ...[[], [], ['files:move'], ['files:link']],
    ])
    expect((await catalog.engine()).size).toBe(3)
  })

  it('keeps everything after a broken edit', async () => {
    const { tools, edit, find, file, lines } = await openFile()
    const { version } = tools
    expect(edit('command: echo\ntools: [{name: half')).toBe(false)
    expect([tools.version, find('rename')]).toEqual([version, ['files:move']])
    expect(lines.join('')).toContain('the previous tools stay active')
    expect(readFileSync(file, 'utf8')).toContain('half')
  })

  it('finds a tool of another source beside them, and keeps it through a reload', async () => {
    const { tools, edit, find } = await openFile()
    const mail = { name: 'send', namespace: 'mail', description: 'send a letter', inputSchema: {} }
    tools.register(mail, { kind: 'mcp', serverName: 'mail' })
    edit(config({ copy: 'duplicate a file' }))
    expect(find('letter')).toEqual(['mail:send'])
    expect(tools.search().hits.map(({ id, source }) => [id, source])).toEqual([
      ['mail:send', 'mcp'],
      ['files:copy', 'cli'],
    ])
  })

  it.each([
    ['an added tool', { ...before, link: 'alias a file' }],
    ['a changed one', { ...before, wipe: 'delete a file' }],
    ['a removed one', { copy: before.copy, move: before.move }],
    ['another order', { wipe: before.wipe, move: before.move, copy: before.copy }],
  ])('rejects a cursor after %s, with the reason', async (_, after) => {
    const { tools, edit } = await openFile()
    const cursor = tools.search({ query: 'file', limit: 1 }).cursorAfter(1)
    expect(tools.search({ query: 'file', limit: 1, cursor }).hits).toHaveLength(1)
    edit(config(after))
    expect(() => tools.search({ query: 'file', limit: 1, cursor })).toThrow(
      expect.objectContaining({
        code: 'CURSOR_INVALID',
        message: 'The catalog changed since the cursor was issued.',
      }),
    )
  })

  it('takes any name that a config may give a tool', async () => {
    const names = ['a b', 'x:y', 'x', '__proto__', 'é', 'n'.repeat(200)]
    const tools = names.map((name) => ({ name, description: `does ${name}` }))
    const file = tempFile('odd.yaml', JSON.stringify({ name: 'odd: one', command: 'echo', tools }))
    const logger = createLogger({ level: 'ERROR' })
    const catalog = new LiveCatalog({ source: createCliSource([file]), logger })
    const opened = await catalog.open()
    expect(opened.search({ limit: 10 }).hits.map(({ tool }) => tool.name)).toEqual(names)
    expect((await catalog.engine()).size).toBe(names.length)
    for (const name of names) expect(opened.find(name)?.tool.name).toBe(name)
  })
})

describe('the tool of a name', () => {
  it('is the one with exactly this id, then with this name, then with this name in clients', async () => {
    const write = (name: string, tools: readonly string[]) =>
      tempFile(
        `${name}.yaml`,
        JSON.stringify({ name, command: 'echo', tools: tools.map((tool) => ({ name: tool, description: tool })) }),
      )
    const files = [write('files', ['copy', 'a/b']), write('other', ['files:copy', toClientName('a/b')])]
    const catalog = new LiveCatalog({ source: createCliSource(files), logger: createLogger({ level: 'ERROR' }) })
    const tools = await catalog.open()
    const idOf = (name: string) => tools.find(name)?.id
    expect([idOf('copy'), idOf('files:copy'), idOf('other:files:copy')]).toEqual([
      'files:copy',
      'files:copy',
      'other:files:copy',
    ])
    expect([idOf('a/b'), idOf(toClientName('a/b')), idOf('nope')]).toEqual([
      'files:a/b',
      `other:${toClientName('a/b')}`,
      undefined,
    ])
    expect(tools.find('copy', ({ tool }) => tool.namespace === 'other')).toBeUndefined()
  })

  it('carries what an edit changes in its command, without an event', async () => {
    const { catalog, tools, edit, find } = await openFile()
    const commandOf = () => tools.find('copy')?.runnable?.resolved?.baseCommand
    const { tool } = tools.find('copy') ?? {}
    expect([find('duplicate'), commandOf()]).toEqual([['files:copy'], 'echo'])
    const events: string[] = []
    tools.onChange(({ type }) => void events.push(type))
    expect(edit(config(before).replace('command: echo', 'command: printf'))).toBe(true)
    expect([commandOf(), tools.list()[0]?.runnable?.resolved?.baseCommand]).toEqual(['printf', 'printf'])
    expect([tools.find('copy')?.tool === tool, events]).toEqual([true, ['refreshed']])
    expect((await catalog.engine()).size).toBe(3)
  })
})

describe('the index of a catalog', () => {
  const words = ['red', 'green', 'blue']
  const backend = { kind: 'local', name: 'x' } as const
  const toTools = (kept: ReadonlyMap<string, string>) =>
    Array.from(kept, ([name, description]) => ({ name, description, inputSchema: {} }))

  it('after any sequence of changes is the one of a fresh catalog', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      text: fc.constantFrom(...words),
      what: fc.constantFrom('put', 'drop', 'look'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const engine = new SearchEngine()
        const catalog = new Catalog({ ranker: engine })
        const kept = new Map<string, string>()
        for (const { name, text, what } of steps) {
          if (what === 'put') kept.set(name, text)
          if (what === 'drop') kept.delete(name)
          if (what === 'look') catalog.rankChanges()
          catalog.sync(backend, toTools(kept))
        }
        const fresh = new Catalog()
        fresh.sync(backend, toTools(kept))
        fresh.rankWith(new SearchEngine())
        for (const query of words) expect(catalog.search({ query }).hits).toEqual(fresh.search({ query }).hits)
        expect(engine.size).toBe(kept.size)
      }),
    )
  })

  it('is replaced after thousands of changes, tool by tool, and finds the same', async () => {
    const source: Source = { kind: 'none', load: () => ({ configs: [], failures: [] }), watch: () => {} }
    const live = new LiveCatalog({ source, logger: createLogger({ level: 'ERROR' }) })
    const catalog = await live.open()
    const tools = (round: number) =>
      toTools(new Map(Array.from({ length: 300 }, (_, at) => [`tool${at}`, `${words[at % words.length]} ${round}`])))
    const first = await live.engine()
    for (let round = 0; round < 12; round++) {
      catalog.sync(backend, tools(round))
      await live.indexInTurns()
    }
    expect(await live.engine()).not.toBe(first)
    const fresh = new Catalog({ ranker: new SearchEngine() })
    fresh.sync(backend, tools(11))
    const found = (each: Catalog) => each.search({ query: `${words[0]} 11`, limit: 300 }).hits
    expect(found(catalog)).toEqual(found(fresh))
  })
})
