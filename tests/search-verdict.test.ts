import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { Catalog } from '../src/catalog/index.ts'
import { ready } from '../src/contract/catalog.ts'
import { evalCatalog } from '../src/operations/eval/eval-catalog.ts'
import { invoke } from '../src/operations/invoke.ts'
import { mergeSearch } from '../src/operations/registry-client/merge-search.ts'
import { createLocalClient } from '../src/operations/registry-client/registry-client.ts'
import { searchTools } from '../src/operations/search/search-tools.ts'
import { SearchEngine } from '../src/search/search-engine.ts'
import { listConfigNames } from '../src/sources/cli/config-files.ts'
import { handleMetaTool } from '../src/surfaces/mcp/handle-call.ts'
import { projectRoot } from './support/run-cli.ts'
import { runInProcess } from './support/run-in-process.ts'

interface Line {
  readonly id: string
  readonly query: string
  readonly relevant: readonly string[]
}

const readLines = (file: string): readonly Line[] =>
  readFileSync(join(projectRoot, 'tests/golden/bundled', file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const lines = readLines('queries.jsonl')
const showcase = readLines('showcase.jsonl')
const heldOut = readLines('held-out.jsonl')
const served = lines.filter(({ relevant }) => relevant.length > 0)
const unserved = lines.filter(({ relevant }) => relevant.length === 0)

describe('the verdict of a search', () => {
  vi.stubEnv('TOOLDEX_LEARNING', 'off')
  const configs = listConfigNames()
  const context = composeProcess({ configs })
  const search = (query: string, input: object = {}) => invoke(searchTools, { query, ...input }, context)

  it('is none for most of sixty requests without a tool, and for few of sixty with one', async () => {
    expect([served.length, unserved.length]).toEqual([60, 60])
    const queries = lines.map(({ query, relevant }) => ({ query, relevant: [...relevant] }))
    const { macro } = await invoke(evalCatalog, { queries }, context)
    expect(macro.auroc).toBeGreaterThan(95)
    expect(macro.falseAbstention).toBeLessThanOrEqual(10)
    expect(macro.trueAbstention).toBeGreaterThanOrEqual(75)
    expect(macro.hit1).toBeGreaterThanOrEqual(75)
  })

  it('evaluates settings of search, and returns why each query failed', async () => {
    const queries = [
      { query: 'show the commit history', relevant: ['git:git_log'] },
      { query: 'book a flight to the moon for my cat', relevant: [] },
    ]
    const failures = async (input: object) =>
      (await invoke(evalCatalog, { queries, details: true, ...input }, context)).details?.map(({ failure }) => failure)
    const { details, macro } = await invoke(evalCatalog, { queries, details: true }, context)
    expect(details?.[0]?.results.map(({ id }) => id)).toContain('git:git_log')
    expect([details?.[0]?.missing, details?.[0]?.failure, macro.recall5]).toEqual([[], undefined, 100])
    expect((await failures({ cli: 'docker' }))?.[0]).toBe('not-found')
    expect(await failures({ executor: ['python'] })).toEqual(['not-found', undefined])
    expect(await failures({ minFit: 1 })).toEqual(['abstained', undefined])
    expect(await failures({ minFit: 0 })).toEqual([undefined, 'not-abstained'])
    expect(await failures({ minScore: 1 })).toEqual(['not-found', undefined])
    const explainTool = 'git:git_log'
    const { explained } = await search('show the commit history', { minScore: 1, explainTool })
    expect(explained?.reason).toBe('its score is below the minimum score')
    const without = await invoke(evalCatalog, { queries }, context)
    expect(without).not.toHaveProperty('details')
  })

  it.each([
    ['the forty-one showcase requests', showcase, 41, 38],
    ['forty requests that no text was written for', heldOut, 40, 34],
  ])('has the right tool among the first three for most of %s', async (_, requests, count, floor) => {
    const found = await Promise.all(
      requests.map(async ({ query, relevant }) => {
        const { results = [] } = await search(query, { limit: 3 })
        return results.some(({ name }) => relevant.some((id) => id.endsWith(`:${name}`)))
      }),
    )
    expect(requests).toHaveLength(count)
    expect(found.filter(Boolean).length).toBeGreaterThanOrEqual(floor)
  })

  it('puts the tool of the showcase request first', async () => {
    const { results = [], fit } = await search('undo changes to a file')
    expect([results[0]?.name, fit]).toEqual(['git_restore', 'good'])
  })

  it('does not correct words of the language', async () => {
    for (const query of [
      'buy shoes',
      'book a flight to Rome',
      'what is eating my disk',
      'translate this into French',
    ]) {
      const { results = [] } = await search(query, { explain: true })
      expect(results[0]?.explanation, query).not.toHaveProperty('readAs')
    }
    const { results = [] } = await search('shwo comits', { explain: true, level: 'line' })
    expect(results[0]?.explanation?.readAs).toMatch(/commit/)
  })

  it('is the same in a search, on the command line and over MCP, with at most three tools and the next steps', async () => {
    const query = 'buy shoes'
    const answer = await search(query)
    expect(answer).toMatchObject({
      fit: 'none',
      advice: expect.stringMatching(/^Try other words, .* tooldex add .* tooldex import/),
    })
    expect(answer.results?.length).toBeLessThanOrEqual(3)
    const { content, structuredContent } = await handleMetaTool(
      'search_tools',
      { query },
      { client: createLocalClient(context) },
    )
    expect(structuredContent).toEqual(answer)
    expect(content).toMatchObject([
      { text: expect.stringMatching(/^Fit: none\. No tool here does this.*Try other words/s) },
    ])
    const words = ['search', query, ...configs.flatMap((name) => ['-c', name])]
    const { out } = await runInProcess(words)
    expect(out).toMatch(/^Fit: none\. No tool here does this.*Try other words/s)
    expect(JSON.parse((await runInProcess([...words, '--json'])).out)).toEqual(answer)
  })

  it('marks each hit in the text for a model', async () => {
    const { content } = await handleMetaTool(
      'search_tools',
      { query: 'unpack an archive' },
      { client: createLocalClient(context) },
    )
    expect(content).toMatchObject([{ text: expect.stringMatching(/^tar_\w+.*: .* \[good\]$/m) }])
  })

  it('is that of the better of two catalogs, and absent without a query', async () => {
    const tar = (input: object) => invoke(searchTools, input, composeProcess({ configs: ['tar'] }))
    const npm = (input: object) => invoke(searchTools, input, composeProcess({ configs: ['npm'] }))
    const merged = await mergeSearch({ first: npm, second: tar }, { query: 'unpack an archive' })
    expect(merged).toMatchObject({ fit: 'good' })
    expect(merged).not.toHaveProperty('advice')
    expect(await mergeSearch({ first: npm, second: tar }, { query: 'buy shoes' })).toMatchObject({ fit: 'none' })
    expect(await tar({ namespace: 'tar' })).not.toHaveProperty('fit')
  })
})

it('ranks a tool that cannot be called below an equal one that can', () => {
  const ranker = new SearchEngine()
  const readinessOf = ({ namespace }: { readonly namespace?: string | undefined }) =>
    namespace === 'a' ? { state: 'needs-program' as const, reason: 'Command not found: x' } : ready
  const catalog = new Catalog({ ranker, readinessOf })
  for (const namespace of ['a', 'b'])
    catalog.register(
      { name: 'send_mail', namespace, description: 'Send a mail', inputSchema: {} },
      { kind: 'local', name: namespace },
    )
  const { hits } = catalog.search({ query: 'send a mail' })
  expect(hits.map(({ tool }) => tool.namespace)).toEqual(['b', 'a'])
})
