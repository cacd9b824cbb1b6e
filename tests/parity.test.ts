import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { TooldexError, toErrorBody } from '../src/base/errors.ts'
import { invoke } from '../src/operations/invoke.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { describeTools } from '../src/operations/search/describe-tools.ts'
import { listTools } from '../src/operations/search/list-tools.ts'
import { searchTools } from '../src/operations/search/search-tools.ts'
import { connect, openConnection } from './support/connect.ts'
import { runCli } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const configs = ['git', 'coreutils']
const c = configs.flatMap((name) => ['-c', name])

// One request in the words of each surface; all three must give the same answer, or the same error.
const cases = [
  {
    name: 'a search',
    operation: searchTools,
    // A server adds the sandbox of each hit, so that fewer fields fit the usual budget.
    input: { query: 'record changes', limit: 3, level: 'summary' },
    tool: 'search_tools',
    words: ['search', ...c, 'record', 'changes', '--limit', '3', '--level', 'summary', '--json'],
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
    name: 'filters by source, status, executor and readiness, with facets',
    operation: searchTools,
    input: {
      query: 'files',
      source: ['cli'],
      status: ['ACTIVE'],
      executor: ['cli'],
      readiness: ['ready'],
      limit: 2,
      facets: true,
    },
    tool: 'search_tools',
    words: [
      ...[
        'search',
        ...c,
        'files',
        '--source',
        'cli',
        '--status',
        'ACTIVE',
        '--executor',
        'cli',
        '--readiness',
        'ready',
      ],
      ...['--limit', '2', '--facets', '--json'],
    ],
  },
  {
    name: 'a source that nothing comes from',
    operation: searchTools,
    input: { source: ['mcp', 'openapi'] },
    tool: 'search_tools',
    words: ['search', ...c, '--source', 'mcp', '--source', 'openapi', '--json'],
  },
  {
    name: 'a status that there is not',
    operation: searchTools,
    input: { query: 'x', status: ['GONE'] },
    tool: 'search_tools',
    words: ['search', ...c, 'x', '--status', 'GONE', '--json'],
  },
  {
    name: 'a description',
    operation: describeTools,
    input: { ids: ['git_log'], level: 'full' },
    tool: 'describe_tool',
    words: ['describe', ...c, 'git_log', '--json'],
  },
  {
    name: 'a description in TypeScript',
    operation: describeTools,
    input: { ids: ['git_log'], level: 'full', format: 'typescript' },
    tool: 'describe_tool',
    words: ['describe', ...c, 'git_log', '--format', 'typescript', '--json'],
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
    return (await invoke(operation as typeof callTool, input, composeProcess({ configs }))) as Answer
  } catch (error) {
    if (error instanceof TooldexError) return { error: toErrorBody(error) }
    throw error
  }
}

/** The surface adds what a person or model needs; a plan is named by its tool only where it is not clear which. */
const core = ({ tool: _, ...answer }: Answer): Answer => JSON.parse(JSON.stringify(answer))

const limitedBecause = 'the other ways have no sandbox'
/** A server also says how it runs a tool, and runs it in its sandbox instead of the folder of the caller. */
const sandboxFields = new Set(['isolation', 'cwd', 'folders', 'network', 'spentTokens'])
const apartFromSandbox = (answer: Answer): Answer =>
  JSON.parse(JSON.stringify(core(answer), (key, value) => (sandboxFields.has(key) ? undefined : value)))

/** The request over REST: the tool of a call is part of the path, and its error is a problem document. */
async function throughRest(server: TestServer, { tool, input }: (typeof cases)[number]): Promise<Answer> {
  const { name, arguments: args, dryRun } = input as { name?: string; arguments?: object; dryRun?: boolean }
  const paths = { search_tools: '/search', describe_tool: '/describe', call_tool: `/tools/${name}/execute` }
  const body = tool === 'call_tool' ? { input: args, wait: true, dryRun } : input
  const answer = await server.request('POST', paths[tool], { body })
  const { toolName: _name, dryRun: _dryRun, ...result } = answer.body
  if (answer.status < 400) return result
  const { code, detail, errors, hint, retryable } = answer.body
  return { error: { code, message: detail, errors, hint, retryable } }
}

describe('library, command line, REST and MCP over stdio and HTTP give the same answers and the same errors', () => {
  let shared: Awaited<ReturnType<typeof openConnection>>
  let server: TestServer
  const overHttp = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  beforeAll(async () => {
    ;[shared, server] = await Promise.all([openConnection(configs), startServer({ words: configs, limitedBecause })])
    const requestInit = { headers: { authorization: `Bearer ${server.key}` } }
    await overHttp.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }))
  })
  afterAll(async () => {
    await Promise.all([shared?.client.close(), overHttp.close()])
    await server?.stop()
  })

  it.each(cases)('$name', async (request) => {
    const expected = core(await throughLibrary(request))
    const { stdout } = await runInline(request.words)
    expect(core(JSON.parse(stdout))).toEqual(expected)
    const { client } = shared
    const { structuredContent } = await client.callTool({ name: request.tool, arguments: request.input })
    expect(core(structuredContent as Answer)).toEqual(expected)
    const { structuredContent: served } = await overHttp.callTool({ name: request.tool, arguments: request.input })
    expect(apartFromSandbox(served as Answer), 'MCP over HTTP').toEqual(apartFromSandbox(expected))
    expect(apartFromSandbox(await throughRest(server, request)), 'REST').toEqual(apartFromSandbox(expected))
  })

  it('a cursor of one is good in the others, and stale where the tools are others', async () => {
    const input = { query: 'files', limit: 1 }
    const { nextCursor: cursor } = await invoke(searchTools, input, composeProcess({ configs }))
    const expected = core(await invoke(searchTools, { ...input, cursor }, composeProcess({ configs })))
    const words = ['files', '--limit', '1', '--cursor', String(cursor), '--json']
    expect(core(JSON.parse((await runInline(['search', ...c, ...words])).stdout))).toEqual(expected)
    const { client } = shared
    const { structuredContent } = await client.callTool({ name: 'search_tools', arguments: { ...input, cursor } })
    expect(core(structuredContent as Answer)).toEqual(expected)
    const { error } = JSON.parse((await runInline(['search', '-c', 'coreutils', ...words])).stdout)
    expect(error).toMatchObject({ code: 'CURSOR_INVALID', message: expect.stringContaining('catalog changed') })
  })

  it('a tool whose program is missing', async () => {
    const folder = tempFolder()
    const text = (name: string, command: string) =>
      `name: ${name}\ncommand: ${command}\ntools: [{name: ${name}_files, description: Show files}]\n`
    const files = [
      tempFile('here.yaml', text('here', 'echo'), folder),
      tempFile('gone.yaml', text('gone', 'no-such-program'), folder),
    ]
    const needs = { state: 'needs-program', reason: 'Command not found: no-such-program' }
    const input = { query: 'gone files', facets: true }
    const expected = core(await invoke(searchTools, input, composeProcess({ configs: files })))
    expect(expected).toMatchObject({
      results: [{ name: 'gone_files', readiness: needs }, { name: 'here_files' }],
      facets: {
        source: [{ value: 'cli', count: 2 }],
        status: [{ value: 'ACTIVE', count: 2 }],
        executor: [{ value: 'cli', count: 2 }],
        readiness: [
          { value: 'needs-program', count: 1 },
          { value: 'ready', count: 1 },
        ],
      },
    })
    const cli = async (...words: string[]) =>
      (await runInline([...words, ...files.flatMap((file) => ['-c', file])])).stdout
    expect(core(JSON.parse(await cli('search', 'gone', 'files', '--facets', '--json')))).toEqual(expected)
    expect(await cli('search', 'gone', 'files')).toContain('not ready: Command not found: no-such-program')
    const listed = JSON.parse(await cli('list', '--readiness', 'needs-program', '--json'))
    expect(listed.tools).toMatchObject([{ name: 'gone_files', readiness: needs }])
    expect(listed).toEqual(
      JSON.parse(
        JSON.stringify(await invoke(listTools, { readiness: ['needs-program'] }, composeProcess({ configs: files }))),
      ),
    )
    const { client } = await connect(files)
    const { structuredContent, content } = await client.callTool({ name: 'search_tools', arguments: input })
    expect(core(structuredContent as Answer)).toEqual(expected)
    expect(JSON.stringify(content)).toContain('(not ready: Command not found: no-such-program)')
  })

  it('a call that runs', async () => {
    const stable = ({ durationMs: _, ...result }: Answer) => result
    const call = { name: 'coreutils_echo', arguments: { message: 'same' } }
    const direct = await invoke(callTool, call, composeProcess({ configs }))
    const expected = 'outcome' in direct ? stable(direct.outcome.result) : {}
    const { stdout } = await runCli(['call', ...c, '--json', 'coreutils_echo', 'same'])
    expect(stable(JSON.parse(stdout).outcome.result)).toEqual(expected)
    const { client } = shared
    const { structuredContent } = await client.callTool({ name: 'call_tool', arguments: call })
    expect(stable(structuredContent as Answer)).toEqual(expected)
  })
})
