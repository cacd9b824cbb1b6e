import { describe, expect, it } from 'vitest'
import type { SearchableTool } from '../contract/search.ts'
import { SearchEngine } from './search-engine.ts'

const tool = (name: string, more: Partial<SearchableTool> = {}): SearchableTool => ({
  id: name,
  name,
  description: '',
  ...more,
})

function answers(tools: readonly SearchableTool[], query: string): readonly (readonly [string, number])[] {
  const engine = new SearchEngine()
  for (const each of tools) engine.add(each)
  return engine.search({ query, mode: 'bm25' }).hits.map((hit) => [hit.tool.id, hit.score])
}

describe('the order in which tools were added', () => {
  it('does not decide which of many example requests speak', () => {
    const tools = Array.from('abcdefghij', (letter) =>
      tool(`${letter}t`, { exampleRequests: [`list file ${letter}q`] }),
    )
    expect(answers(tools.toReversed(), 'list file')).toEqual(answers(tools, 'list file'))
  })

  it.each(['maik', 'mai', 'mn'])('does not decide what %s was meant to be', (query) => {
    const tools = [tool('send_mail'), tool('send_main'), tool('open_maid')]
    expect(answers(tools.toReversed(), query)).toEqual(answers(tools, query))
  })

  it('nor does a word that only a removed tool had', () => {
    const others = ['merge_sheets_again', 'find_it'].map((name) => tool(name))
    const engine = new SearchEngine()
    for (const each of [tool('message'), ...others]) engine.add(each)
    engine.search({ query: 'msg', mode: 'bm25' })
    engine.remove('message')
    const found = engine.search({ query: 'msg', mode: 'bm25' }).hits.map((hit) => [hit.tool.id, hit.score])
    expect(found).toEqual(answers(others, 'msg'))
  })
})

describe('an entry that is not a tool', () => {
  it.each([
    [{ id: 'zebra' }, 'The name of the tool "zebra" is not a string.'],
    [{ id: 'zebra', name: 'zebra', description: 7 }, 'The description of the tool "zebra" is not a string.'],
    [{ ...tool('zebra'), tags: 'fast' }, 'The tags of the tool "zebra" is not an array of strings.'],
    [{ name: 'x', description: '' }, 'The id of the tool without an id is not a string.'],
  ])('%j is refused, and nothing of it is kept', (wrong, message) => {
    const engine = new SearchEngine()
    expect(() => engine.add(wrong as unknown as SearchableTool)).toThrow(message)
    engine.add(tool('horse'))
    expect(engine.size).toBe(1)
    expect(engine.search({ query: 'zebra', mode: 'bm25' }).hits).toEqual([])
  })

  it('leaves nothing in the next one where a schema cannot be read', () => {
    const engine = new SearchEngine()
    const inputSchema = {
      get properties() {
        throw new Error('unreadable')
      },
    }
    expect(() => engine.add(tool('zebra', { inputSchema }))).toThrow('unreadable')
    engine.add(tool('horse'))
    expect(engine.search({ query: 'zebra', mode: 'bm25' }).hits).toEqual([])
  })
})

it('returns the interpretation of a query', () => {
  const engine = new SearchEngine()
  engine.add(tool('git_commit'))
  expect(engine.explain('git_commit', { query: 'comit', mode: 'bm25' })).toMatchObject({ readAs: 'commit' })
  expect(engine.explain('git_commit', { query: 'commit', mode: 'bm25' })).not.toHaveProperty('readAs')
})
