import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LlmFormat, LlmTool } from '../contract/llm.ts'
import { compileTool, readAgentCard, readDefinition, toAgentCard } from './index.ts'

const property = fc.record({
  type: fc.constantFrom('string', 'number', 'boolean'),
  description: fc.string({ minLength: 1, maxLength: 20 }),
})
const tools = fc.record({
  name: fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/),
  description: fc.string({ minLength: 1, maxLength: 50 }).filter((text) => text.trim() !== ''),
  properties: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), property, { minKeys: 1, maxKeys: 4 }),
})
const toTool = ({
  name,
  description,
  properties,
}: {
  name: string
  description: string
  properties: object
}): LlmTool => ({
  id: name,
  name,
  description,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  tags: ['one'],
  exampleRequests: ['an example'],
})

describe('definitions', () => {
  it.each(['mcp', 'openai', 'anthropic', 'gemini'] as const)('of %s are read as they were compiled', (format) => {
    fc.assert(
      fc.property(tools, (fields) => {
        const tool = toTool(fields)
        const { definition, losses } = compileTool(tool, format)
        const read = readDefinition(definition)
        expect(losses).toEqual([])
        expect(read.format).toBe(format)
        expect(read.tool).toMatchObject({ name: tool.name, description: tool.description })
        const { properties, required } = read.tool.inputSchema as { properties: object; required: string[] }
        expect(properties).toEqual(tool.inputSchema.properties)
        expect([...required].sort()).toEqual([...(tool.inputSchema.required as string[])].sort())
      }),
      { numRuns: 50 },
    )
  })

  it('report what a tool cannot express, and reject what is no definition', () => {
    const read = readDefinition({ name: 'x', description: 'X.', input_schema: { type: 'object' }, cache_control: {} })
    expect(read).toMatchObject({ format: 'anthropic', losses: [{ pointer: '/cache_control', lost: 'cache_control' }] })
    for (const wrong of [null, [], {}, { name: 3 }, { name: 'x', parameters: 'none' }])
      expect(() => readDefinition(wrong, 'openai' as LlmFormat)).toThrow(/not valid/)
  })
})

describe('agent cards', () => {
  const agent = {
    name: 'tools',
    description: 'All tools.',
    version: '1',
    url: 'http://127.0.0.1/mcp',
    revision: '2026-07-28',
  }

  it('have a skill for each tool, which is read as a tool', () => {
    fc.assert(
      fc.property(fc.uniqueArray(tools, { selector: ({ name }) => name, maxLength: 4 }), (all) => {
        const given = all.map(toTool)
        const { card, losses } = toAgentCard(given, agent)
        const back = readAgentCard(JSON.parse(JSON.stringify(card)))
        const shown = ({ name, description, tags, exampleRequests }: LlmTool) => ({
          name,
          description,
          tags,
          exampleRequests,
        })
        expect(back.tools.map(shown)).toEqual(given.map(shown))
        expect(losses.every((each) => each.losses.some(({ lost }) => lost === 'inputSchema'))).toBe(true)
        expect(back.losses.flatMap((each) => each.losses)).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  it('of another agent report the fields that a tool does not have', () => {
    const skill = { id: 'route planner', name: 'Plan', description: 'Plans.', tags: [], inputModes: ['text/plain'] }
    const { tools: read, losses } = readAgentCard({ name: 'Maps', description: 'Maps.', version: '1', skills: [skill] })
    expect(read[0]).toMatchObject({ id: 'Maps:route_planner', inputSchema: { required: ['message'] } })
    expect(losses[0]?.losses.map(({ lost }) => lost)).toEqual(['id', 'inputModes'])
    expect(() => readAgentCard({ name: 'x' })).toThrow(/The agent card is not valid/)
  })
})
