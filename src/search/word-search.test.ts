import { describe, expect, it } from 'vitest'
import type { ToolIndexEntry } from '../contract/tool-index.ts'
import { WordSearch } from './word-search.ts'

function tool(toolName: string, description: string, more: Partial<ToolIndexEntry> = {}): ToolIndexEntry {
  return { toolName, description, cliName: 'tools', category: null, tags: [], inputSchema: {}, ...more }
}

const git = { cliName: 'git-tools', category: 'vcs', tags: ['version-control', 'commits'] }
const entries = [
  tool('git_log', 'Show recent commit history of git', git),
  tool('git_commit', 'Record changes to the repository', git),
  tool('git_branch', 'List, create, or delete branches', git),
  tool('commit_message', 'Draft a message for a git commit', { cliName: 'writer' }),
  tool('symbol_find', 'Find a symbol by its name'),
  tool('find_symbol', 'Where something is defined'),
  tool('find', 'Find a symbol, a file or a line'),
  tool('docker_ps', 'List running containers', { cliName: 'docker-tools', category: 'containers' }),
]

const all = () => true
const search = (query: string, accept: (entry: ToolIndexEntry) => boolean = all) => {
  return new WordSearch(entries).search({ query, accept })
}
const names = (query: string) => search(query).map(({ entry }) => entry.toolName)

describe('WordSearch', () => {
  it('puts the tool named by the words first', () => {
    expect(names('git commit')[0]).toBe('git_commit')
  })

  it.each([
    'find_symbol',
    'find symbol',
    'find-symbol',
    'FindSymbol',
    'findSymbol',
    'FIND_SYMBOL',
    'findsymbol',
    ' find.symbol? ',
  ])('puts find_symbol first for %j', (query) => {
    expect(names(query)[0]).toBe('find_symbol')
  })

  it('finds an exact name however its capitals take it apart', () => {
    const hub = new WordSearch([tool('other', 'Lists pull requests of github'), tool('gitHub_PR', 'x')])
    expect(hub.search({ query: 'github pr', accept: all })[0]?.entry.toolName).toBe('gitHub_PR')
    expect(hub.search({ query: 'githubpr', accept: all })[0]?.entry.toolName).toBe('gitHub_PR')
  })

  it('finds a request of several words that no text holds in a row', () => {
    expect(names('show me the branches of the repository')).toContain('git_branch')
    expect(names('which containers are running')[0]).toBe('docker_ps')
  })

  it('meets singular and plural', () => {
    expect(names('container')[0]).toBe('docker_ps')
    expect(names('branch')[0]).toBe('git_branch')
  })

  it('finds a word by its beginning, below the whole word', () => {
    expect(names('contain')[0]).toBe('docker_ps')
    const [whole, begun] = new WordSearch([tool('a', 'contain'), tool('b', 'containers')]).search({
      query: 'contain',
      accept: all,
    })
    expect(whole?.entry.toolName).toBe('a')
    expect(begun?.score).toBeLessThan(whole?.score ?? 0)
  })

  it('ranks a tool that has all the words above one that has some', () => {
    const ranked = names('recent commit history')
    expect(ranked[0]).toBe('git_log')
  })

  it('counts a rare word more than a common one', () => {
    const common = Array.from({ length: 20 }, (_, index) => tool(`tool_${index}`, 'handles data'))
    const ranked = new WordSearch([...common, tool('rare', 'handles invoices')]).search({
      query: 'invoices data',
      accept: all,
    })
    expect(ranked[0]?.entry.toolName).toBe('rare')
  })

  it('returns scores that fall, and equals in the order they were loaded', () => {
    const ranked = search('git')
    const scores = ranked.map(({ score }) => score)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    const same = new WordSearch([tool('b', 'same text'), tool('a', 'same text')]).search({ query: 'same', accept: all })
    expect(same.map(({ entry }) => entry.toolName)).toEqual(['b', 'a'])
  })

  it('gives everything accepted, in order, where there is nothing to rank by', () => {
    expect(names('')).toEqual(entries.map((entry) => entry.toolName))
    expect(search('', (entry) => entry.category === 'vcs').map(({ entry }) => entry.toolName)).toEqual([
      'git_log',
      'git_commit',
      'git_branch',
    ])
  })

  it('keeps to what is accepted', () => {
    expect(search('commit', (entry) => entry.cliName === 'writer').map(({ entry }) => entry.toolName)).toEqual([
      'commit_message',
    ])
  })

  it('finds what is no word as it is written: the middle of one, or signs alone', () => {
    expect(names('ymbol_fi')).toEqual(['symbol_find'])
    expect(names('ontainer')).toEqual(['docker_ps'])
    const signs = new WordSearch([tool('a', 'turns a -> b'), tool('b', 'no arrow'), tool('c', 'is fun 🦊')])
    const found = (query: string) => signs.search({ query, accept: all }).map(({ entry }) => entry.toolName)
    expect(found(' -> ')).toEqual(['a'])
    expect(found('🦊')).toEqual(['c'])
    expect(found('???')).toEqual([])
    expect(found('  ')).toEqual(['a', 'b', 'c'])
  })

  it('finds nothing for words that no tool has', () => {
    expect(names('weather forecast')).toEqual([])
  })

  it('reads letters of every script', () => {
    const ranked = new WordSearch([tool('a', 'показать погоду'), tool('b', '天気 を 見る')])
    expect(ranked.search({ query: 'погоду', accept: all })[0]?.entry.toolName).toBe('a')
    expect(ranked.search({ query: '天気', accept: all })[0]?.entry.toolName).toBe('b')
  })
})
