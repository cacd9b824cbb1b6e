import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Backend, CatalogEvent, CatalogToolInput } from '../contract/catalog.ts'
import { Catalog } from './catalog.ts'

const server: Backend = { kind: 'mcp', serverName: 's' }
const local: Backend = { kind: 'local', name: 'here' }

const tool = (name: string, description = 'd'): CatalogToolInput => ({ name, description, inputSchema: {} })

/** A catalog and what was said about it, each time with all that it held at that moment. */
function listened() {
  const catalog = new Catalog()
  const heard: [CatalogEvent['type'], string | undefined][] = []
  const seen: string[] = []
  catalog.onChange((event) => {
    heard.push([event.type, 'id' in event ? event.id : undefined])
    seen.push(namesOf(catalog).join())
  })
  return { catalog, heard, seen }
}

const namesOf = (catalog: Catalog) => [...catalog.entries.keys()].sort()

describe('sync', () => {
  it('adds, changes and removes in one step, and sends no event for unchanged tools', () => {
    const { catalog, heard, seen } = listened()
    catalog.sync(server, [tool('a'), tool('b'), tool('c')])
    heard.length = 0
    seen.length = 0
    catalog.sync({ ...server }, [tool('d'), tool('b', 'another'), tool('c')])
    expect(heard).toEqual([
      ['toolRemoved', 'a'],
      ['registered', 'd'],
      ['updated', 'b'],
    ])
    expect(new Set(seen)).toEqual(new Set(['b,c,d']))
    expect(catalog.get('b')?.tool.description).toBe('another')
    const { version } = catalog
    catalog.sync(server, [tool('b', 'another'), tool('c'), tool('d')])
    expect(catalog.version).toBe(version)
  })

  it('leaves what others registered alone', () => {
    const { catalog, heard } = listened()
    catalog.register(tool('mine'), local)
    catalog.register(tool('both'), local)
    catalog.sync(server, [tool('both'), tool('theirs')])
    expect(catalog.backendsOf('both')).toEqual([local, server])
    catalog.sync(server, [])
    expect(namesOf(catalog)).toEqual(['both', 'mine'])
    expect(heard.slice(-2)).toEqual([
      ['backendRemoved', 'both'],
      ['toolRemoved', 'theirs'],
    ])
  })

  it.each([
    ['a tool that another backend knows otherwise', tool('shared', 'other'), '"shared" differs'],
    ['an invalid tool', tool('bad name'), 'invalid tool at index 1: name contains'],
  ])('is refused whole for %s', (_, bad, message) => {
    const { catalog, heard } = listened()
    catalog.register(tool('shared'), local)
    catalog.sync(server, [tool('a')])
    const before = [catalog.version, namesOf(catalog), heard.length]
    expect(() => catalog.sync(server, [tool('b'), bad])).toThrow(message)
    expect([catalog.version, namesOf(catalog), heard.length]).toEqual(before)
  })

  it('whatever came before, the tools are those of the last one', () => {
    const tools = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('x', 'y')), {
      selector: ([name]) => name,
    })
    fc.assert(
      fc.property(fc.array(tools, { minLength: 1, maxLength: 5 }), (rounds) => {
        const catalog = new Catalog({ sharedCursors: true })
        for (const round of rounds)
          catalog.sync(
            server,
            round.map(([name, text]) => tool(name, text)),
          )
        const fresh = new Catalog({ sharedCursors: true })
        fresh.sync(
          server,
          (rounds.at(-1) ?? []).map(([name, text]) => tool(name, text)),
        )
        expect(catalog.searchPage({ limit: 1 })).toEqual(fresh.searchPage({ limit: 1 }))
        expect(catalog.searchDocs()).toEqual(fresh.searchDocs())
      }),
    )
  })
})
