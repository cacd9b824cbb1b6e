import { describe, expect, it } from 'vitest'
import { compose } from '../src/app/compose.ts'
import { TooldexError, toErrorBody } from '../src/base/errors.ts'
import { callTool } from '../src/operations/call-tool.ts'
import { describeTools } from '../src/operations/describe-tools.ts'
import { invoke } from '../src/operations/invoke.ts'
import { searchTools } from '../src/operations/search-tools.ts'
import { connect } from './support/connect.ts'
import { runCli } from './support/run-cli.ts'

const configs = ['git', 'coreutils']
const c = configs.flatMap((name) => ['-c', name])

// One request in the words of each surface; all three must give the same answer, or the same error.
const cases = [
  {
    name: 'a search',
    operation: searchTools,
    input: { query: 'record changes', limit: 3 },
    tool: 'search_tools',
    words: ['search', ...c, 'record', 'changes', '--limit', '3', '--json'],
  },
  {
    name: 'the overview',
    operation: searchTools,
    input: {},
    tool: 'search_tools',
    words: ['search', ...c, '--json'],
  },
  {
    name: 'a filter that nothing passes',
    operation: searchTools,
    input: { query: 'x', category: 'nothing' },
    tool: 'search_tools',
    words: ['search', ...c, 'x', '--category', 'nothing', '--json'],
  },
  {
    name: 'a foreign cursor',
    operation: searchTools,
    input: { query: 'git', cursor: 'bm9wZQ' },
    tool: 'search_tools',
    words: ['search', ...c, 'git', '--cursor', 'bm9wZQ', '--json'],
  },
  {
    name: 'a description',
    operation: describeTools,
    input: { ids: ['git_log'], level: 'full' },
    tool: 'describe_tool',
    words: ['describe', ...c, 'git_log', '--json'],
  },
  {
    name: 'an unknown tool',
    operation: describeTools,
    input: { ids: ['git_lgo'] },
    tool: 'describe_tool',
    words: ['describe', ...c, 'git_lgo', '--json'],
  },
  {
    name: 'a known tool and one that is not',
    operation: describeTools,
    input: { ids: ['git_lgo', 'git_log'], level: 'summary' },
    tool: 'describe_tool',
    words: ['describe', ...c, 'git_lgo', 'git_log', '--level', 'summary', '--json'],
  },
  {
    name: 'several tools that are all unknown',
    operation: describeTools,
    input: { ids: ['git_lgo', 'zzqx'] },
    tool: 'describe_tool',
    words: ['describe', ...c, 'git_lgo', 'zzqx', '--json'],
  },
  {
    name: 'a dry run',
    operation: callTool,
    input: { name: 'coreutils_echo', arguments: { message: 'a b' }, dryRun: true },
    tool: 'call_tool',
    words: ['call', ...c, '--json', 'coreutils_echo', 'a b', '--dry-run'],
  },
  {
    name: 'a missing argument',
    operation: callTool,
    input: { name: 'coreutils_echo', arguments: {} },
    tool: 'call_tool',
    words: ['call', ...c, '--json', 'coreutils_echo'],
  },
  {
    name: 'a value of the wrong type',
    operation: callTool,
    input: { name: 'git_log', arguments: { max_count: 'many' } },
    tool: 'call_tool',
    words: ['call', ...c, '--json', 'git_log', '--max-count', 'many'],
  },
] as const

type Answer = Record<string, unknown>

async function throughLibrary({ operation, input }: (typeof cases)[number]): Promise<Answer> {
  try {
    return (await invoke(operation as typeof callTool, input, compose({ configs }))) as Answer
  } catch (error) {
    if (error instanceof TooldexError) return { error: toErrorBody(error) }
    throw error
  }
}

/** The surface adds what a person or model needs; a plan is named by its tool only where it is not clear which. */
const core = ({ tool: _, ...answer }: Answer): Answer => JSON.parse(JSON.stringify(answer))

describe('library, command line and MCP give the same answers and the same errors', () => {
  it.each(cases)('$name', async (request) => {
    const expected = core(await throughLibrary(request))
    const { stdout } = await runCli(request.words)
    expect(core(JSON.parse(stdout))).toEqual(expected)
    const { client } = await connect(configs)
    const { structuredContent } = await client.callTool({ name: request.tool, arguments: request.input })
    expect(core(structuredContent as Answer)).toEqual(expected)
  })

  it('a call that runs', async () => {
    const stable = ({ durationMs: _, ...result }: Answer) => result
    const call = { name: 'coreutils_echo', arguments: { message: 'same' } }
    const direct = await invoke(callTool, call, compose({ configs }))
    const expected = 'outcome' in direct ? stable(direct.outcome.result) : {}
    const { stdout } = await runCli(['call', ...c, '--json', 'coreutils_echo', 'same'])
    expect(stable(JSON.parse(stdout).outcome.result)).toEqual(expected)
    const { client } = await connect(configs)
    const { structuredContent } = await client.callTool({ name: 'call_tool', arguments: call })
    expect(stable(structuredContent as Answer)).toEqual(expected)
  })
})
