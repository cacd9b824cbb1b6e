import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CompiledTools, LlmFormat, type LlmTool } from '../contract/llm.ts'
import { compileTools } from './compile-tool.ts'

const toolOf = (name: string, namespace?: string, id = `${namespace ?? ''}:${name}`): LlmTool => ({
  id,
  name,
  ...(namespace === undefined ? {} : { namespace }),
  description: '',
  inputSchema: {},
})

describe('names in a list', () => {
  const Name = fc.oneof(fc.string({ maxLength: 120 }), fc.constantFrom('a', 'a_b', 'b', '3d', 'x'.repeat(90)))
  const Tools = fc.uniqueArray(
    fc.tuple(Name, fc.option(fc.constantFrom('a', 'a_b', 'n'), { nil: undefined }), fc.integer({ min: 1, max: 3 })),
    { selector: JSON.stringify, maxLength: 12 },
  )
  const build = (list: [string, string | undefined, number][]) =>
    list.map(([name, namespace, version]) => toolOf(name, namespace, `${namespace}:${name}:${version}`))

  it('differ, fit the provider, lead back to the tool, and do not depend on the order', () => {
    return fc.assert(
      fc.asyncProperty(Tools, fc.constantFrom(...LlmFormat.options), async (list, format) => {
        const tools = build(list)
        const { aliases, tools: compiled } = await compileTools(tools, format)
        expect(Object.keys(aliases)).toHaveLength(tools.length)
        for (const { name, id } of compiled) {
          expect(name).toMatch(format === 'gemini' ? /^[A-Za-z_][\w-]{0,63}$/ : /^[\w-]{1,64}$/)
          expect(aliases[name]).toBe(id)
        }
        expect((await compileTools([...tools].reverse(), format)).aliases).toEqual(aliases)
      }),
    )
  })

  it('are the bare name where it is unique, else the namespace and the name', async () => {
    const tool = toolOf('create', 'git.hub')
    expect((await compileTools([tool], 'openai')).aliases).toEqual({ create: 'git.hub:create' })
    const { aliases: among } = await compileTools([tool, toolOf('create', 'other'), toolOf('echo', 'other')], 'openai')
    expect(among).toEqual({ git_hub_create: 'git.hub:create', other_create: 'other:create', echo: 'other:echo' })
  })

  it('have a hash only where readable names collide or are too long', async () => {
    const tools = [toolOf('create', 'git.hub'), toolOf('create', 'git/hub'), toolOf('x'.repeat(60), 'n')]
    const names = Object.keys((await compileTools(tools, 'openai')).aliases)
    expect(names).toEqual([
      'git_hub_create',
      expect.stringMatching(/^git_hub_create_[0-9a-f]{8}$/),
      expect.stringMatching(/^n_x+_[0-9a-f]{8}$/),
    ])
  })

  it('are never the name of another tool', async () => {
    const tools = [toolOf('status', 'git'), toolOf('status', 'hg'), toolOf('git_status'), toolOf('git_status', 'a')]
    const { aliases } = await compileTools(tools, 'openai')
    expect(aliases.git_status).toBeUndefined()
    expect(aliases.hg_status).toBe('hg:status')
  })

  it('of a tool listed twice are one', async () => {
    expect((await compileTools([toolOf('a'), toolOf('a')], 'mcp')).definitions).toHaveLength(1)
  })
})

it('a long list takes turns with other work after each tool', async () => {
  let turns = 0
  const turn = async () => void turns++
  const list = await compileTools(
    Array.from({ length: 30 }, (_, index) => toolOf(`tool_${index}`)),
    'openai',
    { turn },
  )
  expect([list.tools.length, turns]).toEqual([30, 30])
})

describe('namespaces', () => {
  const tools = [toolOf('a', 'git'), toolOf('b'), toolOf('c', 'git')]

  it('group the functions of OpenAI', async () => {
    const list = await compileTools(tools, 'openai', { namespaces: true, deferLoading: true })
    expect(CompiledTools.parse(list)).toEqual(list)
    expect(list.definitions).toMatchObject([
      { type: 'namespace', name: 'git', tools: [{ defer_loading: true }, { type: 'function' }] },
      { type: 'function', name: 'b' },
    ])
  })

  it('do not group the definitions of other providers', async () => {
    const { definitions } = await compileTools(tools, 'anthropic', { namespaces: true })
    expect(definitions).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  })
})
