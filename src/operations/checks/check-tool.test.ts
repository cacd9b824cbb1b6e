import { describe, expect, it } from 'vitest'
import { ToolContent, ToolDraft } from '../../contract/registry.ts'
import { SchemaCache } from '../../json-schema/index.ts'
import { checkTool } from './check-tool.ts'

const tool = (fields: Partial<ToolDraft>): ToolContent =>
  ToolContent.parse(
    ToolDraft.parse({
      name: 'forecast',
      displayName: 'Forecast',
      description: 'The weather of the next days.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      scriptContent: 'def main(arguments):\n    return {}\n',
      ...fields,
    }),
  )
const places = async (fields: Partial<ToolDraft>) =>
  (await checkTool(tool(fields), { schemas: new SchemaCache() })).map(
    ({ severity, pointer }) => `${severity} ${pointer}`,
  )

describe('checkTool', () => {
  it('reports no problem of a valid tool', async () => {
    expect(await places({})).toEqual([])
    const command = ['weather', '{{city}}']
    expect(await places({ executorType: 'shell', executorConfig: { command }, scriptContent: null })).toEqual([])
  })

  it('reports all problems at once, each with its position and a hint', async () => {
    const problems = await checkTool(
      tool({
        inputSchema: { type: 'object', properties: { x: { type: 'strng' }, y: { $ref: 'https://example.com/y' } } },
        outputSchema: { required: 'x' },
        executorConfig: { netwrok: true },
        scriptContent: 'def main(a):\n  return (',
      }),
    )
    expect(problems.map(({ pointer, line }) => [pointer, line])).toEqual([
      ['/inputSchema/properties/x/type', undefined],
      ['/inputSchema/properties/y/$ref', undefined],
      ['/outputSchema/required', undefined],
      ['/executorConfig/netwrok', undefined],
      ['/scriptContent', 2],
    ])
  })

  it('requires a script of script executors, and of no others', async () => {
    expect(await places({ scriptContent: null })).toEqual(['error /scriptContent'])
    expect(await places({ executorType: 'mcp', executorConfig: { server: 'a', tool: 'b' } })).toEqual([
      'error /scriptContent',
    ])
  })

  it('requires an object as input, and no output', async () => {
    expect(await places({ inputSchema: { type: 'array' } })).toEqual(['error /inputSchema/type'])
    expect(await places({ inputSchema: { type: 'string' } })).toEqual(['error /inputSchema/type'])
    expect(await places({ outputSchema: { type: 'string' } })).toEqual([])
  })

  it('refuses defaults that break their own schema, with their places', async () => {
    const properties = {
      count: { type: 'integer', default: 'x' },
      kind: { enum: ['a', 'b'], default: 'c' },
      place: { type: 'object', properties: { 'a/b': { type: 'string' } }, default: { 'a/b': 1 } },
      fine: { type: 'integer', default: 3 },
      city: { type: 'string' },
    }
    expect(await places({ inputSchema: { type: 'object', properties, required: ['city'] } })).toEqual([
      'error /inputSchema/properties/count/default',
      'error /inputSchema/properties/kind/default',
      'error /inputSchema/properties/place/default/a~1b',
    ])
  })

  it('warns of examples that do not fit', async () => {
    const examples = [
      { description: 'right', args: { city: 'Oslo' } },
      { description: 'wrong', args: { city: 7 } },
      { description: 'empty', args: {} },
      { title: 'Simple', description: 'without arguments' },
    ]
    expect(await places({ examples })).toEqual(['warning /examples/1/args/city', 'warning /examples/2/args/city'])
  })
})
