import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ResourceTemplateType,
  type Server,
} from '@modelcontextprotocol/server'
import { toTooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { RequestedInput } from '../../contract/executor.ts'
import type { RegistryClient, RequestControls } from '../../operations/registry-client/registry-client.ts'
import { markSuspiciousOffer } from '../../rules/suspicious-result.ts'
import { type ClientExchange, callerInputOf, readRound, toInputRequired } from './client-rounds.ts'

// Loaded with the first one: most connections read none.
const loadResults = lazyModule(() => import('../../operations/runs/results.ts'))
const loadDoc = lazyModule(() => import('../../operations/registry/tool-doc.ts'))
const loadDocText = lazyModule(() => import('./response-text.ts'))
const loadOffers = lazyModule(() => import('../../operations/upstreams/offers.ts'))

/** The URI prefix of large outputs. */
export const resultScheme = 'tooldex://results/'
const toolScheme = 'tooldex://tools/'

const templates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: `${toolScheme}{id}`,
    name: 'tool',
    title: 'Documentation of a tool',
    description: 'Description, arguments, examples and notes of a tool, by its id or name.',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: `${resultScheme}{handle}`,
    name: 'result',
    title: 'Large output of a call',
    description: 'The whole output of a call, by the handle in its result.',
  },
]

/** Serves large outputs, documents of tools, and the resources of upstreams; only the last are listed, the others have templates. */
export function serveResources(server: Server, client: RegistryClient, exchange: ClientExchange): void {
  server.setRequestHandler('resources/list', async (_, { mcpReq: { signal } }) => ({
    resources: (await listed(client, 'resources', signal)) as never,
  }))
  server.setRequestHandler('resources/templates/list', async (_, { mcpReq: { signal } }) => ({
    resourceTemplates: [...templates, ...((await listed(client, 'templates', signal)) as ResourceTemplateType[])],
  }))
  server.setRequestHandler('resources/read', async ({ params }, request) => {
    const { uri } = params
    const { signal } = request.mcpReq
    const round = readRound(server, request, { uri }, exchange)
    const read = await readResource(client, uri, { signal, callerInput: callerInputOf(round) })
    return 'inputRequests' in read ? toInputRequired(round, read as RequestedInput) : (read as ReadResourceResult)
  })
  // The endpoint announces the changes; here the resource only has to exist.
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    await readResource(client, uri, { signal })
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', () => ({}))
}

/** Reads a resource, or returns the input that its upstream requests first. */
export async function readResource(
  client: RegistryClient,
  uri: string,
  controls: RequestControls,
): Promise<ReadResourceResult | RequestedInput> {
  try {
    if (uri.startsWith(resultScheme)) return await readResult(client, uri, controls)
    if (uri.startsWith(toolScheme)) return await readTool(client, uri, controls)
    const { requestOffer } = await loadOffers()
    const response = await client.invoke(requestOffer, { method: 'resources/read', params: { uri } }, controls)
    return response.result as unknown as ReadResourceResult
  } catch (thrown) {
    throw toReadError(thrown, uri)
  }
}

/** The items of all upstreams; those of unavailable ones are missing. */
export async function listed(
  client: RegistryClient,
  kind: 'prompts' | 'resources' | 'templates',
  signal: AbortSignal,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { listOffers } = await loadOffers()
  return (await client.invoke(listOffers, { kind }, { signal })).items
}

async function readResult(client: RegistryClient, uri: string, controls: RequestControls): Promise<ReadResourceResult> {
  const { readWholeResult } = await loadResults()
  const handle = uri.slice(resultScheme.length)
  const { mediaType, content, suspicious } = await client.invoke(readWholeResult, { handle }, controls)
  const result = { contents: [{ uri, mimeType: mediaType, text: content }] }
  return suspicious === undefined ? result : (markSuspiciousOffer(result, suspicious) as unknown as ReadResourceResult)
}

async function readTool(client: RegistryClient, uri: string, controls: RequestControls): Promise<ReadResourceResult> {
  const [{ readDoc }, { toolMarkdown }] = [await loadDoc(), await loadDocText()]
  const idOrName = decodeURIComponent(uri.slice(toolScheme.length))
  const doc = await client.invoke(readDoc, { idOrName, level: 'full' }, controls)
  return { contents: [{ uri, mimeType: 'text/markdown', text: toolMarkdown(doc) }] }
}

const missing = new Set(['NOT_FOUND', 'TOOL_NOT_FOUND', 'INPUT_INVALID'])

function toReadError(thrown: unknown, uri: string): Error {
  if (thrown instanceof ProtocolError) return thrown
  if (thrown instanceof URIError) return new ResourceNotFoundError(uri)
  const { code, message, hint } = toTooldexError(thrown)
  if (missing.has(code)) return new ResourceNotFoundError(uri, `${message} ${hint}`)
  return new ProtocolError(
    code === 'INTERNAL' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams,
    `${message} ${hint}`,
  )
}
