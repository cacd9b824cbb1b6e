import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encoderFile } from '../base/package-info.ts'
import type { SearchableTool, SearchMode } from '../contract/search.ts'
import { loadEncoder } from './encoder.ts'
import { SearchEngine } from './search-engine.ts'

const encoder = loadEncoder(encoderFile)
const modes: readonly SearchMode[] = ['substring', 'bm25', 'embedding', 'hybrid']

const words = [
  'git',
  'commit',
  'branch',
  'container',
  'log',
  'file',
  'symbol',
  'weather',
  'invoice',
  'send',
  'list',
  'find',
]
const word = fc.constantFrom(...words)
const tool = fc.record({
  id: fc.integer({ min: 0, max: 11 }).map((number) => `t${number}`),
  name: fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('_')),
  description: fc.array(word, { maxLength: 8 }).map((parts) => parts.join(' ')),
  category: fc.option(word),
  tags: fc.array(word, { maxLength: 2 }),
})
const query = fc.array(word, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' '))

function engineOf(tools: Iterable<SearchableTool>): SearchEngine {
  const engine = new SearchEngine(() => encoder)
  for (const each of tools) engine.add(each)
  return engine
}

const answers = (engine: SearchEngine, text: string, mode: SearchMode) =>
  engine.search({ query: text, mode, limit: 20 }).hits.map(({ tool: found, score }) => [found.id, score])

describe('SearchEngine', () => {
  it.each(modes)('%s: after any sequence of adds and removes equals one built fresh', (mode) => {
    const steps = fc.array(fc.oneof(tool, fc.integer({ min: 0, max: 11 })), { maxLength: 30 })
    fc.assert(
      fc.property(steps, query, (changes, text) => {
        const engine = new SearchEngine(() => encoder)
        engine.search({ query: 'x', mode })
        const left = new Map<string, SearchableTool>()
        for (const change of changes) {
          if (typeof change === 'number') {
            expect(engine.remove(`t${change}`)).toBe(left.delete(`t${change}`))
          } else {
            engine.add(change)
            left.set(change.id, change)
          }
        }
        expect(engine.size).toBe(left.size)
        expect(answers(engine, text, mode)).toEqual(answers(engineOf(left.values()), text, mode))
      }),
      { numRuns: 60 },
    )
  })

  it('reads the meaning of many tools in steps, between which they may change', () => {
    const toolAt = (at: number, first = at) => ({
      id: `t${at}`,
      name: `${words[first % words.length]}_${at}`,
      description: words.slice(at % 7).join(' '),
    })
    const engine = engineOf(Array.from({ length: 300 }, (_, at) => toolAt(at)))
    const left = new Map(Array.from({ length: 300 }, (_, at) => [`t${at}`, toolAt(at)]))
    let steps = 0
    for (; engine.read(); steps++) {
      for (const at of [steps, 150 + steps]) {
        engine.remove(`t${at}`)
        left.delete(`t${at}`)
      }
      for (const changed of [toolAt(100 + steps, 3), toolAt(280 + steps, 4), toolAt(400 + steps)]) {
        engine.add(changed)
        left.set(changed.id, changed)
      }
      expect(answers(engine, 'git branch', 'bm25')).toEqual(answers(engineOf(left.values()), 'git branch', 'bm25'))
    }
    expect(steps).toBeGreaterThan(2)
    expect(answers(engine, 'git branch', 'hybrid')).toEqual(answers(engineOf(left.values()), 'git branch', 'hybrid'))
  })

  it('completes the meaning of all tools when a search comes between two steps', () => {
    const tools = Array.from({ length: 200 }, (_, at) => ({
      id: `t${at}`,
      name: `${words[at % 12]}_${at}`,
      description: '',
    }))
    const engine = engineOf(tools)
    expect(engine.read()).toBe(true)
    expect(answers(engine, 'invoice', 'embedding')).toEqual(answers(engineOf(tools), 'invoice', 'embedding'))
    expect(engine.read()).toBe(false)
  })

  it.each(modes)('%s: finds exactly what a look at every tool finds, in the same order page by page', (mode) => {
    fc.assert(
      fc.property(fc.uniqueArray(tool, { selector: ({ id }) => id, maxLength: 12 }), query, (tools, text) => {
        const engine = engineOf(tools)
        const whole = answers(engine, text, mode).map(([id]) => id)
        const pages = Array.from({ length: 7 }, (_, page) =>
          engine.search({ query: text, mode, limit: 2, offset: page * 2 }),
        )
        expect(pages.flatMap((page) => page.hits.map((hit) => hit.tool.id))).toEqual(whole)
        if (mode !== 'substring') return
        const naive = tools.filter((each) => {
          const parts = [each.name, each.description, '', ...(each.category ? [each.category] : []), ...each.tags]
          return parts.join(' ').toLowerCase().includes(text)
        })
        expect(new Set(whole)).toEqual(new Set([...naive.map(({ id }) => id), ...exactly(tools, text)]))
      }),
      { numRuns: 60 },
    )
  })

  it('ranks by BM25 as a plain computation does', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(tool, { selector: ({ id }) => id, minLength: 1, maxLength: 12 }),
        word,
        (tools, text) => {
          const found = engineOf(tools)
            .search({ query: text, mode: 'bm25', limit: 20 })
            .hits.map((hit) => hit.tool.id)
          const has = (each: (typeof tools)[0]) =>
            [each.name.replaceAll('_', ' '), each.description, each.category ?? '', ...each.tags]
              .join(' ')
              .split(' ')
              .includes(text)
          expect(new Set(found)).toEqual(new Set(tools.filter(has).map(({ id }) => id)))
        },
      ),
      { numRuns: 100 },
    )
  })

  it.each(modes)('%s: puts the exactly named tool first, however it is spelled', (mode) => {
    const tools = [
      { id: 'a:find_symbol', name: 'find_symbol', namespace: 'a', description: 'x' },
      {
        id: 'b:find',
        name: 'find',
        namespace: 'b',
        description: 'find symbol find symbol find symbol symbols everywhere',
      },
      { id: 'c:symbol_finder', name: 'symbol_finder', namespace: 'c', description: 'find symbol in a project' },
    ]
    const engine = engineOf(tools)
    for (const text of ['find_symbol', 'find symbol', 'Find-Symbol', 'FINDSYMBOL', 'findSymbol', 'a:find_symbol']) {
      expect(engine.search({ query: text, mode }).hits[0]?.tool.id, text).toBe('a:find_symbol')
    }
  })

  it('forgives typos and abbreviations where nothing else matches', () => {
    const engine = engineOf([
      { id: 'commit', name: 'git_commit', description: 'Record changes' },
      { id: 'mail', name: 'send_message', description: 'Send a message' },
      { id: 'other', name: 'weather', description: 'Forecast' },
    ])
    const first = (text: string) => engine.search({ query: text, mode: 'bm25' }).hits[0]?.tool.id
    expect(first('comit')).toBe('commit')
    expect(first('mesage')).toBe('mail')
    expect(first('msg')).toBe('mail')
    expect(first('forec')).toBe('other')
  })

  it('39: answers a query of megabytes by its beginning, in bounded time', () => {
    const tools = Array.from({ length: 300 }, (_, at) => ({
      id: `t${at}`,
      name: `tool_${at}`,
      description: `does thing ${at}`,
    }))
    const engine = engineOf([...tools, { id: 'commit', name: 'git_commit', description: 'Record changes' }])
    const noise = Array.from({ length: 400_000 }, (_, at) => `zq${at.toString(36)}x`).join(' ')
    for (const text of [`record changes ${noise}`, noise, '.*+?^$'.repeat(500_000)]) {
      const { hits } = engine.search({ query: text })
      if (text.startsWith('record')) expect(hits[0]?.tool.id).toBe('commit')
    }
  })

  it('works in other languages', () => {
    const engine = engineOf([
      { id: 'zh', name: 'weather', description: '查询城市的天气预报' },
      { id: 'de', name: 'groesse', description: 'Größe einer Datei ändern' },
      { id: 'ru', name: 'pogoda', description: 'Прогноз погоды' },
    ])
    expect(engine.search({ query: '天气', mode: 'bm25' }).hits[0]?.tool.id).toBe('zh')
    expect(engine.search({ query: 'größe ändern' }).hits[0]?.tool.id).toBe('de')
    expect(engine.search({ query: 'прогноз' }).hits[0]?.tool.id).toBe('ru')
  })

  it('explains a score down to words and fields', () => {
    const engine = engineOf([
      { id: 'log', name: 'git_log', description: 'Show commit history' },
      { id: 'add', name: 'git_add', description: 'Stage files' },
    ])
    const why = engine.explain('log', { query: 'show the commit log' })
    expect(why?.terms.map(({ term }) => term)).toEqual(expect.arrayContaining(['show', 'commit', 'log', 'show commit']))
    expect(why?.terms.find(({ term }) => term === 'log')?.fields).toEqual(['name'])
    expect(why?.signals).toMatchObject({ exactName: false, learned: 0 })
    expect(engine.explain('nothing', { query: 'x' })).toBeUndefined()
  })

  it('bounds the work for pairs of words, and explains the score that ranked', () => {
    const words = Array.from({ length: 14 }, (_, at) => `w${String.fromCharCode(97 + at).repeat(3)}`)
    const description = `${words.join(' ')} `.repeat(4000)
    const query = words.join(' ')
    const pairsOf = (engine: SearchEngine) => {
      const [why] = [...engine.explainAll(['t1'], { query, mode: 'bm25' })]
      return why?.terms.filter(({ term }) => term.includes(' ')).length
    }
    const many = engineOf(Array.from({ length: 40 }, (_, at) => ({ id: `t${at}`, name: `tool_${at}`, description })))
    const few = engineOf(Array.from({ length: 3 }, (_, at) => ({ id: `t${at}`, name: `tool_${at}`, description })))
    expect(pairsOf(few)).toBe(13)
    expect(pairsOf(many)).toBeLessThan(8)
    expect(many.search({ query, mode: 'bm25', limit: 100 }).total).toBe(40)
    const all = [...few.explainAll(['t0', 'nothing', 't2'], { query })]
    expect(all).toEqual(['t0', 'nothing', 't2'].map((id) => few.explain(id, { query })))
  })

  it('raises a tool by past queries, and explains it', () => {
    const engine = engineOf([
      { id: 'a', name: 'alpha', description: 'deploy the service' },
      { id: 'b', name: 'beta', description: 'deploy the service to production' },
    ])
    const learned = new Map([['b', 30]])
    expect(engine.search({ query: 'deploy the service', mode: 'bm25' }).hits[0]?.tool.id).toBe('a')
    expect(engine.search({ query: 'deploy the service', mode: 'bm25', learned }).hits[0]?.tool.id).toBe('b')
    expect(engine.explain('b', { query: 'deploy', learned })?.signals.learned).toBe(30)
  })

  it('marks results that do not match as unlikely', () => {
    const engine = engineOf([
      { id: 'commit', name: 'git_commit', description: 'Record changes to the repository' },
      { id: 'logs', name: 'docker_logs', description: 'Fetch the logs of a container' },
      { id: 'pods', name: 'kubectl_get_pods', description: 'List pods of a cluster' },
    ])
    const fits = engine.search({ query: 'fetch the logs of a container' }).hits[0]?.score ?? 0
    const misses = engine.search({ query: 'book me a table for dinner tomorrow evening' }).hits[0]?.score ?? 0
    expect(fits).toBeGreaterThan(0.7)
    expect(misses).toBeLessThan(0.2)
    expect(engine.search({ query: 'book me a table for dinner tomorrow evening', minScore: 0.3 }).hits).toEqual([])
  })
})

const exactly = (tools: readonly SearchableTool[], text: string) =>
  tools.filter(({ name }) => name.replaceAll('_', '') === text.replaceAll(' ', '')).map(({ id }) => id)
