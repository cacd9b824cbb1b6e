import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { type TooldexError, toErrorBody } from '../src/base/errors.ts'
import { invoke } from '../src/operations/invoke.ts'
import { generateKey } from '../src/operations/registry/keys.ts'
import { changeTool, deactivateTool, deprecateTool } from '../src/operations/registry/tools.ts'
import { createLocalClient, type RegistryClient } from '../src/operations/registry-client/registry-client.ts'
import { openRemoteClient } from '../src/operations/registry-client/remote-client.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { handleMetaTool } from '../src/surfaces/mcp/handle-call.ts'
import { createRestApp } from '../src/surfaces/rest/create-app.ts'
import { openRecorded } from './support/open-recorded.ts'
import { runInProcess } from './support/run-in-process.ts'

interface Call {
  readonly name: string
  readonly arguments: Record<string, unknown>
  readonly version?: number
  readonly dryRun?: boolean
}

/** How a call ended, in the same words whichever way it was made. */
type Seen = Readonly<Record<string, unknown>>

type Ask = (call: Call) => Promise<Seen>

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field in tests
type Any = any

const secret = 'tdx_a_key_for_tests_only_0123456789'
const ofError = ({ code, message, errors }: Any): Seen => ({
  error: { code, message, pointers: (errors ?? []).map(({ pointer }: { pointer?: string }) => pointer) },
})
const ofAnswer = ({ error, plan, needsApproval, waitsFor, outcome, warning }: Any): Seen => {
  const said = warning === undefined ? {} : { warning }
  if (error !== undefined) return ofError(error)
  if (plan !== undefined) return { argv: plan.argv.slice(1), needsApproval, ...said }
  if (waitsFor !== undefined) return { waitsFor, ...said }
  const { status, errorCode, errorMessage, result, output } = outcome
  return { status, errorCode, errorMessage, output: output ?? result.stdout, ...said }
}

const cases: readonly (readonly [string, Call, Seen])[] = [
  ['good', { name: 'words', arguments: { word: 'a' } }, { status: 'SUCCESS', output: 'two a\n' }],
  ['failing', { name: 'fails', arguments: { word: 'a' } }, { status: 'FAILED', errorCode: 'EXECUTION_FAILED' }],
  ['bad input', { name: 'words', arguments: { count: 'x', other: 1 } }, { error: { code: 'INPUT_INVALID' } }],
  ['unknown', { name: 'wrods', arguments: {} }, { error: { code: 'TOOL_NOT_FOUND' } }],
  ['disabled', { name: 'off', arguments: { word: 'a' } }, { error: { code: 'TOOL_DISABLED' } }],
  ['draft', { name: 'sketch', arguments: { word: 'a' } }, { error: { code: 'TOOL_DISABLED' } }],
  [
    'deprecated',
    { name: 'old', arguments: { word: 'a' } },
    { status: 'SUCCESS', warning: 'old is deprecated and may be removed.' },
  ],
  ['dry run', { name: 'words', arguments: { word: 'a' }, dryRun: true }, { argv: ['a', '1'], needsApproval: false }],
  [
    'dry run of what is deprecated',
    { name: 'old', arguments: { word: 'a' }, dryRun: true },
    { warning: expect.any(String) },
  ],
  ['pinned version', { name: 'words', arguments: { word: 'a' }, version: 1 }, { status: 'SUCCESS', output: 'one a\n' }],
  [
    'version that is not there',
    { name: 'words', arguments: { word: 'a' }, version: 9 },
    { error: { code: 'NOT_FOUND' } },
  ],
  ['approval needed', { name: 'asks', arguments: { word: 'a' } }, { waitsFor: 'approval' }],
  ['structured output', { name: 'json', arguments: { word: 'a' } }, { status: 'SUCCESS', output: { word: 'a' } }],
  [
    'output against its schema',
    { name: 'liar', arguments: { word: 'a' } },
    { status: 'FAILED', errorCode: 'OUTPUT_INVALID' },
  ],
]

describe('a call ends the same whichever way it is made', () => {
  let world: Awaited<ReturnType<typeof openRecorded>>
  let ways: Readonly<Record<string, Ask>> = {}
  let stop: () => Promise<unknown> = async () => {}

  beforeAll(async () => {
    world = await openRecorded()
    const { context, register } = world
    await register('words', { script: 'echo "one $1"' })
    await register('other', { script: 'echo "two $1"' })
    const { executorConfig } = (await world.stores.tools.get('default', 'other')) ?? {}
    await invoke(changeTool, { idOrName: 'words', executorConfig }, context)
    await register('fails', { script: 'echo half; exit 3' })
    await register('off', { script: 'echo' })
    await invoke(deactivateTool, { idOrName: 'off' }, context)
    await register('sketch', { script: 'echo', status: 'DRAFT' })
    await register('old', { script: 'echo' })
    await invoke(deprecateTool, { idOrName: 'old' }, context)
    await register('asks', { script: 'echo', annotations: { requiresApproval: true } })
    const outputSchema = { type: 'object', properties: { word: { enum: ['a'] } } }
    await register('json', { script: `printf '{"word": "%s"}' "$1"`, outputSchema })
    await register('liar', { script: `printf '{"word": "b"}'`, outputSchema })
    const { prefix, hash } = generateKey(secret)
    await world.stores.keys.create(context.caller, { name: 'admin', prefix, hash, scopes: ['admin'] })
    const opened = await openWays()
    ways = opened.ways
    stop = opened.stop
  })
  afterAll(async () => {
    await stop()
    await world?.close()
  })

  async function openWays() {
    const { context } = world
    const app = createRestApp({
      context,
      ready: async () => [],
      memoryOf: () => context.memory,
      catalogOf: async () => context.catalog,
    })
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await new Promise<void>((resolve) => server.once('listening', () => resolve()))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const own = createLocalClient(context)
    const post = async (path: string, body: object) => {
      const response = await app.request(`http://localhost/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const answer = (await response.json()) as Any
      return response.ok ? answer : { error: { ...answer, message: answer.detail } }
    }
    const command = async (words: readonly string[], openRegistry: () => Promise<RegistryClient>, call: Call) => {
      const flags = [
        ...(call.version === undefined ? [] : ['--version', String(call.version)]),
        ...(call.dryRun ? ['--dry-run'] : []),
      ]
      const line = ['call', ...words, '--json', ...flags, '--args', JSON.stringify(call.arguments), call.name]
      const host = { openRegistry, registryExists: () => true, open: async () => composeProcess({ configs: [] }) }
      return ofAnswer(JSON.parse((await runInProcess(line, host)).out))
    }
    const remote = async () => openRemoteClient({ url, key: secret }, new AbortController().signal)
    const ways: Record<string, Ask> = {
      library: (call) =>
        invoke(callTool, call, context).then(ofAnswer, (error) => ofError(toErrorBody(error as TooldexError))),
      'a command on the database': (call) => command([], async () => own, call),
      'a command that asks a server': (call) => command(['--server', url], remote, call),
      HTTP: async ({ name, arguments: input, ...options }) => {
        const answer = await post(`/tools/${name}/execute`, { input, wait: true, ...options })
        if (answer.error !== undefined || answer.dryRun) return ofAnswer(answer)
        const { status, errorCode, errorMessage, outputData: output, reason, warning } = answer
        const said = warning === undefined ? {} : { warning }
        if (reason === 'approval') return { waitsFor: 'approval', ...said }
        return { status, errorCode, errorMessage, output, ...said }
      },
      'a call of a model': async ({ name, arguments: given, version, dryRun }) => {
        // A model does neither choose versions nor try.
        if (version !== undefined || dryRun) return {}
        const answer = await post(`/llm/tools/${name}/invoke`, { arguments: given })
        if (answer.success === undefined) return ofAnswer(answer)
        const { success, result: output, error, warning } = answer
        const said = warning === undefined ? {} : { warning }
        if (error?.code === 'APPROVAL_NEEDED') return { waitsFor: 'approval', ...said }
        const [errorCode, errorMessage] = [error?.code ?? null, error?.message ?? null]
        return { status: success ? 'SUCCESS' : 'FAILED', errorCode, errorMessage, output, ...said }
      },
      call_tool: async (call) => {
        const { structuredContent } = await handleMetaTool('call_tool', { ...call }, { client: own })
        const answer = structuredContent as Any
        if ('stdout' in answer === false) return ofAnswer(answer)
        const { status = 'SUCCESS', errorCode = null, stdout, output, warning } = answer
        const said = warning === undefined ? {} : { warning }
        return { status, errorCode, output: output ?? stdout, ...said }
      },
    }
    return { ways, stop: () => new Promise((resolve) => server.close(resolve)) }
  }

  it.each(cases)('%s', async (_name, call, expected) => {
    let first: Seen | undefined
    for (const [way, ask] of Object.entries(ways)) {
      const seen = await ask(call)
      if (Object.keys(seen).length === 0) continue
      expect(seen, way).toMatchObject(expected)
      first ??= seen
      const { errorMessage: _message, ...known } = first
      expect(seen, way).toEqual('errorMessage' in seen ? first : known)
    }
  })
})
