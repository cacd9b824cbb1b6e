import { describe, expect, it } from 'vitest'
import type { Backend, CatalogToolInput, Readiness, SearchFilters } from '../contract/catalog.ts'
import { Catalog } from './catalog.ts'

const local: Backend = { kind: 'local', name: 'here' }
const down: Readiness = { state: 'upstream-down', reason: 's does not answer' }

/** One tool of each source, status and state that matters. */
function catalogOfAll(asked: string[] = []): Catalog {
  const readinessOf = ({ name }: { readonly name: string }): Readiness => {
    asked.push(name)
    return name === 'far' ? down : { state: 'ready' }
  }
  const catalog = new Catalog({ readinessOf })
  const add = (name: string, backend: Backend, rest: Partial<CatalogToolInput> = {}) =>
    catalog.register({ name, inputSchema: {}, ...rest }, backend)
  add('function', local)
  add('program', local, { source: 'cli', namespace: 'git' })
  add('kept', { kind: 'provider', providerId: 'p', toolId: 't' })
  add('far', { kind: 'mcp', serverName: 's' })
  add('described', { kind: 'provider', providerId: 'p', toolId: 'o' }, { source: 'openapi' })
  add('draft', local, { status: 'DRAFT' })
  add('old', local, { status: 'DEPRECATED' })
  return catalog
}

const namesOf = (filters: SearchFilters) =>
  catalogOfAll()
    .searchPage({ filters })
    .results.map(({ summary }) => summary.name)

const active = ['described', 'far', 'function', 'program', 'kept']

describe('filters by where a tool comes from, its life, and whether it can be called', () => {
  it.each<[SearchFilters, readonly string[]]>([
    [{}, active],
    [{ source: ['code'] }, ['function']],
    [{ source: ['cli', 'mcp'] }, ['far', 'program']],
    [{ source: ['openapi'] }, ['described']],
    [{ source: ['registry'] }, ['kept']],
    [{ source: [] }, active],
    [{ executor: ['mcp'] }, ['far']],
    [{ executor: ['code'] }, ['function', 'program']],
    [{ executor: ['python', 'shell'] }, []],
    [{ executor: [] }, active],
    [{ cli: 'GIT' }, ['program']],
    [{ cli: '' }, []],
    [{ status: ['DRAFT'] }, ['draft']],
    [{ status: ['DEPRECATED', 'DRAFT'] }, ['draft', 'old']],
    [{ status: ['DISABLED'] }, []],
    [{ status: [] }, [...active, 'draft', 'old']],
    [{ readiness: ['upstream-down'] }, ['far']],
    [{ readiness: ['ready'], source: ['mcp'] }, []],
    [{ readiness: ['needs-approval', 'needs-credentials', 'needs-program'] }, []],
  ])('%j', (filters, expected) => {
    expect(namesOf(filters).sort()).toEqual([...expected].sort())
  })

  it('returns the reason why a tool is not ready, and nothing for a ready one', () => {
    const { results } = catalogOfAll().searchPage({ filters: { source: ['mcp', 'cli'] } })
    expect(results.map(({ summary }) => [summary.name, summary.readiness])).toEqual([
      ['far', down],
      ['program', undefined],
    ])
  })

  it('checks readiness of results only, unless a filter needs it', () => {
    const asked: string[] = []
    const catalog = catalogOfAll(asked)
    catalog.searchPage({ query: 'function' })
    expect(asked).toEqual(['function'])
    expect(catalog.search({ filters: { readiness: ['upstream-down'] } }).hits).toMatchObject([
      { id: 'far', source: 'mcp', status: 'ACTIVE', readiness: down },
    ])
  })

  it('binds cursors to them', () => {
    const catalog = catalogOfAll()
    const { nextCursor: cursor } = catalog.searchPage({ limit: 1, filters: { source: ['cli', 'mcp'] } })
    expect(catalog.searchPage({ cursor, filters: { source: ['mcp', 'cli', 'mcp'] } }).results).toHaveLength(1)
    expect(() => catalog.searchPage({ cursor, filters: { source: ['mcp'] } })).toThrow('another query or other filters')
  })

  it('rejects unknown values', () => {
    const filters = { source: ['elsewhere'] } as unknown as SearchFilters
    expect(() => catalogOfAll().searchPage({ filters })).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }))
  })
})
