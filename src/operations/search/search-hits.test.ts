import { describe, expect, it } from 'vitest'
import { parseTool } from '../../catalog/index.ts'
import { ready } from '../../contract/catalog.ts'
import { type Candidate, fitHitsToBudget } from './search-hits.ts'

const tool = parseTool({
  name: 'report',
  namespace: 'ops',
  description: `A long description that nobody needs to choose. ${'It goes on. '.repeat(20)}`,
  summary: 'Sends the weekly report.',
  category: 'mail',
  tags: ['Weekly Mail'],
  inputModes: ['application/json'],
  outputModes: ['text/plain'],
  securitySummary: 'api key',
  inputSchema: { type: 'object', properties: { team: { type: 'string' } } },
})
const candidate: Candidate = {
  id: 'ops:report',
  tool,
  score: 0.9,
  scoreType: 'hybrid',
  readiness: ready,
  source: 'registry',
  status: 'ACTIVE',
  explanation: undefined,
  sharesName: false,
}
const count = (text: string) => Math.ceil(text.length / 4)
const summary = {
  id: 'ops:report',
  name: 'report',
  namespace: 'ops',
  shortDescription: 'Sends the weekly report.',
  summary: 'Sends the weekly report.',
  category: 'mail',
  tags: ['weekly-mail'],
  inputModes: ['application/json'],
  outputModes: ['text/plain'],
  securitySummary: 'api key',
}

describe('a search answer', () => {
  it('has every field of a summary at the level summary, with the summary that the author wrote', async () => {
    expect((await fitHitsToBudget([candidate], { level: 'summary' }, { count })).results).toEqual([
      { ...summary, score: 0.9, scoreType: 'hybrid', signature: expect.any(String) },
    ])
  })

  it('adds description and schema at the level schema, and has only a line at the level line', async () => {
    const { description, inputSchema } = tool
    expect((await fitHitsToBudget([candidate], { level: 'schema' }, { count })).results[0]).toMatchObject({
      ...summary,
      description,
      inputSchema,
    })
    const { id, name, shortDescription } = summary
    const line = { id, name, shortDescription, score: 0.9, scoreType: 'hybrid' }
    expect((await fitHitsToBudget([candidate], { level: 'line' }, { count })).results).toEqual([line])
  })

  it('cuts a long text at the end of a word, with a mark, at every level', async () => {
    const long = { ...candidate, tool: { ...tool, summary: 'leaving history as it was '.repeat(10).trim() } }
    const textAt = async (level: 'line' | 'summary' | 'schema') =>
      (await fitHitsToBudget([long], { level }, { count })).results[0]?.shortDescription
    expect(await textAt('line')).toBe('leaving history as it was leaving history as it was leaving…')
    for (const level of ['summary', 'schema'] as const) {
      expect(await textAt(level)).toMatch(/ as it was leaving history…$/)
      expect((await textAt(level))?.length).toBeLessThanOrEqual(120)
    }
    const unbroken = { ...candidate, tool: { ...tool, summary: '字'.repeat(200) } }
    const cut = (await fitHitsToBudget([unbroken], { level: 'summary' }, { count })).results[0]
    expect([cut?.shortDescription, cut?.summary]).toEqual(Array.from({ length: 2 }, () => `${'字'.repeat(119)}…`))
  })

  it('leaves fields out before it leaves tools out, so that it stays within the budget', async () => {
    const many = Array.from({ length: 6 }, () => candidate)
    const whole = await fitHitsToBudget(many, {}, { count })
    const lean = await fitHitsToBudget(many, { budgetTokens: 330 }, { count })
    expect(whole.results).toHaveLength(6)
    expect(lean.results).toHaveLength(6)
    expect(lean.spentTokens).toBeLessThanOrEqual(330)
    expect(lean.results[0]).not.toHaveProperty('tags')
    expect(lean.results[0]).toHaveProperty('signature')
  })
})
