import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SearchFilters } from '../contract/catalog.ts'
import type { RankedTool, Ranker, RankQuery } from '../contract/search.ts'
import { Catalog } from './catalog.ts'
import type { CatalogOptions } from './catalog-options.ts'
import type { SearchPageQuery } from './search-page.ts'

interface Spec {
  readonly id: string
  readonly description?: string
  readonly tags?: string[]
  readonly category?: string
}

/** A catalog of tools that need not say much. */
function catalogOf(specs: readonly (string | Spec)[], options: CatalogOptions = {}): Catalog {
  const catalog = new Catalog(options)
  for (const spec of specs) {
    const { id, ...rest } = typeof spec === 'string' ? { id: spec } : spec
    const [name = '', namespace] = id.split(':').reverse()
    const place = namespace === undefined ? {} : { namespace }
    catalog.register({ name, ...place, inputSchema: {}, ...rest }, { kind: 'local', name: 'x' })
  }
  return catalog
}

const idsOf = (catalog: Catalog, query: SearchPageQuery = {}) =>
  catalog.searchPage({ limit: 100, ...query }).results.map(({ summary }) => summary.id)

/** A ranker that has its tools in one order for every query. */
function rankerOf(ids: readonly string[], asked: RankQuery[] = []): Ranker {
  return {
    search(query) {
      asked.push(query)
      const fit = ids.map((id) => ({ id })).filter(query.accept ?? (() => true))
      const hits = fit.map((tool): RankedTool => ({ tool, score: 0.5, scoreType: 'hybrid' }))
      return { hits: hits.slice(query.offset, query.offset + query.limit), total: fit.length }
    },
  }
}

const badCursor = (message: string) => expect.objectContaining({ code: 'CURSOR_INVALID', message })

/** All pages one after another, each of the next size. */
function walk(catalog: Catalog, query: SearchPageQuery, sizes: readonly number[]): string[] {
  const seen: string[] = []
  let cursor: string | undefined
  for (let page = 0; page === 0 || cursor !== undefined; page++) {
    const limit = sizes[page % sizes.length] as number
    const { results, nextCursor } = catalog.searchPage({ ...query, limit, cursor })
    expect(results.length).toBe(nextCursor === undefined ? Math.min(results.length, limit) : limit)
    seen.push(...results.map(({ summary }) => summary.id))
    cursor = nextCursor
  }
  return seen
}

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A'), minLength: 1, maxLength: 3 })
const specs = fc.uniqueArray(
  fc.record({
    id: fc.tuple(fc.option(letters, { nil: undefined }), letters).map((parts) => parts.filter(Boolean).join(':')),
    description: letters,
    tags: fc.array(letters, { maxLength: 2 }),
  }),
  { selector: ({ id }) => id, maxLength: 40 },
)
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })

describe('pages', () => {
  it('B3.20: never lose or repeat a tool, whatever the catalog and the sizes', () => {
    const query = fc.record({
      query: fc.oneof(letters, fc.constant('')),
      filters: fc.record({ tags: fc.array(letters, { maxLength: 1 }) }),
    })
    fc.assert(
      fc.property(specs, query, sizes, (tools, asked, steps) => {
        const catalog = catalogOf(tools)
        const all = idsOf(catalog, asked)
        expect(walk(catalog, asked, steps)).toEqual(all)
        expect(new Set(all).size).toBe(all.length)
        expect(idsOf(catalogOf([...tools].reverse()), asked)).toEqual(all)
        if (asked.query === '' && asked.filters.tags.length === 0) expect(all.length).toBe(tools.length)
      }),
    )
  })

  it('B3.20: never lose or repeat a tool, in whatever order a ranker has them', () => {
    const order = fc.shuffledSubarray(['a', 'b', 'c', 'd', 'e', 'f'])
    fc.assert(
      fc.property(order, sizes, (ids, steps) => {
        const catalog = catalogOf([...ids].sort(), { ranker: rankerOf(ids) })
        expect(walk(catalog, { query: 'x' }, steps)).toEqual(ids)
      }),
    )
  })

  it.each([0, -1, Number.NaN])('B3.19: a limit of %d is refused', (limit) => {
    const refused = expect.objectContaining({ code: 'INPUT_INVALID', message: 'limit must be positive' })
    expect(() => catalogOf(['a']).searchPage({ limit })).toThrow(refused)
  })

  it('refuses a limit that is not whole, and unknown filters', () => {
    expect(() => catalogOf(['a']).searchPage({ limit: 1.5 })).toThrow('limit must be an integer')
    const filters = { tag: ['x'] } as SearchFilters
    expect(() => catalogOf(['a']).searchPage({ filters })).toThrow("unknown key 'tag'")
  })

  it('B3.20: the last page has no cursor, and an empty cursor means the first page', () => {
    const catalog = catalogOf(['a', 'b', 'c'])
    const first = catalog.searchPage({ limit: 2, cursor: '' })
    expect(first.nextCursor).toEqual(expect.any(String))
    expect(catalog.searchPage({ limit: 1, cursor: first.nextCursor })).not.toHaveProperty('nextCursor')
    expect(catalog.searchPage({ limit: 3 })).not.toHaveProperty('nextCursor')
  })

  it('B3.20: a place past the end is an empty page', () => {
    const catalog = catalogOf(['a', 'b'])
    const { nextCursor = '' } = catalog.searchPage({ limit: 1 })
    const [, ...rest] = JSON.parse(Buffer.from(nextCursor, 'base64url').toString())
    const far = Buffer.from(JSON.stringify([99, ...rest])).toString('base64url')
    expect(catalog.searchPage({ limit: 1, cursor: far })).toEqual({ results: [] })
  })

  it('begins at an offset, with the same total, and rejects one beside a cursor', () => {
    const catalog = catalogOf(['a', 'ab', 'abc'])
    const [, second, third] = catalog.search({ query: 'a' }).hits.map(({ id }) => id)
    const rest = catalog.search({ query: 'a', offset: 1, limit: 5 })
    expect([rest.hits.map(({ id }) => id), rest.total]).toEqual([[second, third], 3])
    const beyond = catalog.search({ query: 'a', offset: 9, limit: 5 })
    expect([beyond.hits, beyond.total]).toEqual([[], 3])
    const cursor = catalog.search({ query: 'a', limit: 1 }).cursorAfter(1) ?? ''
    expect(() => catalog.search({ query: 'a', offset: 1, cursor })).toThrow('Use either offset or cursor, not both.')
  })

  it('B3.20: any change makes a cursor stale', () => {
    const catalog = catalogOf(['a', 'b'])
    const { nextCursor } = catalog.searchPage({ limit: 1 })
    catalog.refresh()
    const stale = badCursor('The catalog changed since the cursor was issued.')
    expect(() => catalog.searchPage({ limit: 1, cursor: nextCursor })).toThrow(stale)
  })

  it.each([
    '%%%',
    'e30',
    Buffer.from('[-1,"x",1,"y"]').toString('base64url'),
    Buffer.from('[1.5]').toString('base64url'),
  ])('B3.20: %j is not a valid cursor', (cursor) => {
    const refused = badCursor('The cursor cannot be read.')
    expect(() => catalogOf(['a']).searchPage({ limit: 1, cursor })).toThrow(refused)
  })

  it('B3.21: a cursor is bound to its query, its filters and its catalog', () => {
    const catalog = catalogOf(['a', 'ab', 'abc'])
    const { nextCursor: cursor } = catalog.searchPage({ query: 'a', limit: 1 })
    const otherQuestion = badCursor('The cursor belongs to another query or other filters.')
    expect(() => catalog.searchPage({ query: 'b', limit: 1, cursor })).toThrow(otherQuestion)
    expect(() => catalog.searchPage({ query: 'a', filters: { category: 'x' }, limit: 1, cursor })).toThrow(
      otherQuestion,
    )
    expect(() => catalogOf(['a', 'ab', 'abc']).searchPage({ query: 'a', limit: 1, cursor })).toThrow(
      badCursor('The cursor belongs to another catalog.'),
    )
    expect(idsOf(catalog, { query: 'a', filters: { tags: [] }, cursor })).toEqual(['ab', 'abc'])
  })

  it('shared cursors are good wherever the tools are the same, in whatever order they came', () => {
    const shared = (...ids: string[]) => catalogOf(ids, { sharedCursors: true })
    const { nextCursor: cursor } = shared('a', 'b', 'c').searchPage({ limit: 1 })
    expect(idsOf(shared('c', 'b', 'a'), { cursor })).toEqual(['b', 'c'])
    const stale = badCursor('The catalog changed since the cursor was issued.')
    expect(() => idsOf(shared('a', 'b'), { cursor })).toThrow(stale)
    const catalog = shared('a', 'b', 'c')
    catalog.refresh()
    expect(() => idsOf(catalog, { cursor })).toThrow(stale)
  })
})

describe('the ranking', () => {
  it('B3.17: ranks by whole name, name, namespace and text, and scores accordingly', () => {
    const catalog = catalogOf([
      'z:commit',
      'a:git_commit',
      'commit:other',
      { id: 'b:other2', description: 'Will commit' },
      'c:no',
    ])
    const { results } = catalog.searchPage({ query: ' COMMIT ' })
    expect(results.map(({ summary, score, scoreType }) => [summary.id, score, scoreType])).toEqual([
      ['z:commit', 150, 'substring'],
      ['a:git_commit', 100, 'substring'],
      ['commit:other', 50, 'substring'],
      ['b:other2', 10, 'substring'],
    ])
  })

  it('B3.16: a blank query lists all by id', () => {
    expect(idsOf(catalogOf(['b:x', 'a:y', 'c']), { query: ' \t' })).toEqual(['a:y', 'b:x', 'c'])
    expect(catalogOf(['b:x', 'a:y', 'c']).searchPage({ limit: 2 }).results).toHaveLength(2)
  })

  it('may be passed in, and receives a request for one page of the filtered tools', () => {
    const asked: RankQuery[] = []
    const ranker = rankerOf(['d', 'b', 'a', 'c'], asked)
    const catalog = catalogOf(['a', 'b', 'c', { id: 'd', tags: ['x'] }], { ranker })
    const learned = new Map([['a', 1]])
    const { results, nextCursor: cursor } = catalog.searchPage({ query: 'Q', limit: 2, mode: 'bm25', learned })
    expect(results.map(({ summary }) => summary.id)).toEqual(['d', 'b'])
    expect(catalog.searchPage({ query: 'Q', limit: 2, mode: 'bm25', cursor }).results).toHaveLength(2)
    expect(idsOf(catalog, { query: 'Q', filters: { tags: [' X'] } })).toEqual(['d'])
    expect(asked.map(({ query, offset, limit }) => [query, offset, limit])).toEqual([
      ['Q', 0, 2],
      ['Q', 2, 2],
      ['Q', 0, 100],
    ])
    expect(asked[0]).toMatchObject({ mode: 'bm25', learned })
    expect(() => catalog.searchPage({ query: 'Q', limit: 2, mode: 'hybrid', cursor })).toThrow('another query')
  })

  it('ends where the ranker has no more that are likely enough', () => {
    const hits: RankedTool[] = [{ tool: { id: 'a' }, score: 1, scoreType: 'hybrid' }]
    const catalog = catalogOf(['a', 'b', 'c'], { ranker: { search: () => ({ hits, total: 3 }) } })
    expect(catalog.searchPage({ query: 'Q', limit: 2, minScore: 0.5 })).not.toHaveProperty('nextCursor')
  })

  it.each([
    [{ namespace: 'a' }, ['a:x', 'a:y']],
    [{ namespace: '' }, ['z']],
    [{ category: 'c1' }, ['a:x', 'z']],
    [{ category: '' }, []],
    [{ namespace: 'A', category: 'C1' }, ['a:x']],
    [{ tags: ['t1', 't2'], tagsMatch: 'all' as const }, []],
    [{ tags: ['t1'], tagsMatch: 'all' as const }, ['a:x']],
    [{ tags: ['T1', 't2'] }, ['a:x', 'a:y']],
    [{ tags: [] }, ['a:x', 'a:y', 'z']],
    [{ tags: ['!'] }, []],
    [{ namespace: 'a', category: 'c1', tags: ['t1'] }, ['a:x']],
  ])('B6: filters by %j', (filters, expected) => {
    const catalog = catalogOf([
      { id: 'a:x', category: 'c1', tags: ['t1'] },
      { id: 'a:y', tags: ['t2'] },
      { id: 'z', category: 'c1' },
    ])
    expect(idsOf(catalog, { filters })).toEqual(expected)
  })
})
