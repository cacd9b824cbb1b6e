import * as z from 'zod'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { ready } from '../../contract/catalog.ts'
import type { RequestedInput } from '../../contract/executor.ts'
import type { OfferMethod, UpstreamOffers, UpstreamServer } from '../../contract/mcp-server.ts'
import { markSuspiciousOffer } from '../../rules/suspicious-result.ts'
import { scanValue } from '../../runs/mark-suspicious.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { toolViewOfCaller } from '../search/tool-view.ts'
import { qualifyOffer, qualifyOfferUris, resolveOffer } from './offer-names.ts'
import { workspaceOffers } from './workspace-offers.ts'

const tag = 'upstreams'
const Item = z.record(z.string(), z.unknown())
type Item = z.infer<typeof Item>
type OfferContext = OperationContext<'catalog' | 'registry?' | 'upstreams?' | 'sources?'>

const lists = {
  prompts: ['prompts/list', 'prompts'],
  resources: ['resources/list', 'resources'],
  templates: ['resources/templates/list', 'resourceTemplates'],
} as const satisfies Record<string, readonly [OfferMethod, string]>

/** Lists prompts, resources or templates of upstreams. */
export const listOffers = defineOperation({
  name: 'upstreams.list',
  summary: 'List the prompts, resources or resource templates of the MCP servers behind this one.',
  scope: 'read',
  needs: ['catalog', 'registry?', 'upstreams?', 'sources?'],
  http: { method: 'get', path: '/upstreams/{kind}', tag },
  input: z.strictObject({ kind: z.enum(['prompts', 'resources', 'templates']) }),
  output: z.object({
    items: z.array(Item).describe('In the form of MCP, with qualified names and URIs.'),
    unavailable: z.array(z.object({ server: z.string(), reason: z.string() })).describe('Servers without a response.'),
  }),
  async handle({ kind }, context) {
    const [method, key] = lists[kind]
    const { servers, offers } = await visibleOffers(context)
    // Reading starts nothing: a key with the scope read sees what running servers offer.
    const mayStart = context.scopes.has('call') || context.scopes.has('write')
    const unavailable: { server: string; reason: string }[] = []
    const items = await Promise.all(
      servers.map(async (server): Promise<readonly Item[]> => {
        try {
          const signal = context.signal ?? new AbortController().signal
          const result = (await offers?.request(server.name, method, { params: {}, signal, mayStart })) as
            | Item
            | undefined
          return ((result?.[key] ?? []) as readonly Item[]).map((item) => qualifyOffer(server, item))
        } catch (thrown) {
          unavailable.push({ server: server.name, reason: toTooldexError(thrown).message })
          return []
        }
      }),
    )
    return {
      items: unique(items.flat(), kind === 'prompts' ? 'name' : kind === 'templates' ? 'uriTemplate' : 'uri'),
      unavailable,
    }
  },
})

/** Of two servers with the same name or URI, the first one is offered. */
const unique = (items: readonly Item[], key: string): Item[] =>
  [...new Map(items.toReversed().map((item) => [item[key], item])).values()].reverse()

const Params = z.record(z.string(), z.unknown())

/** Gets a prompt, reads a resource, or completes an argument. */
export const requestOffer = defineOperation({
  name: 'upstreams.request',
  summary: 'Get a prompt, read a resource or complete an argument of an MCP server behind this one.',
  scope: 'call',
  needs: ['catalog', 'registry?', 'upstreams?', 'sources?'],
  http: { method: 'post', path: '/upstreams/request', tag },
  input: z.strictObject({
    method: z.enum(['prompts/get', 'resources/read', 'completion/complete']),
    params: Params.describe('The parameters of MCP, with qualified names and URIs.'),
  }),
  output: z.object({
    result: Item.describe('The result of MCP.'),
    requested: z.boolean().optional().describe('Whether the result is a request for input of the caller.'),
  }),
  async handle({ method, params }, context) {
    const value = method === 'completion/complete' ? toolValue(params) : undefined
    if (value !== undefined) return { result: await completeTool(context, value) }
    const { servers, offers } = await visibleOffers(context)
    const found = resolveOffer(servers, method, params)
    const { trace, callerInput } = context
    const caller = JSON.stringify([context.caller.workspace, context.caller.actor])
    const signal = AbortSignal.any([AbortSignal.timeout(requestMs), ...(context.signal ? [context.signal] : [])])
    for (const { server, params: own } of found) {
      const sent = { params: own, signal, traceparent: trace?.traceparent, callerInput, caller }
      const result = await orUnknown(offers?.request(server.name, method, sent), found.length > 1)
      if (result === undefined) continue
      if ('inputRequests' in result) return requestedInput(result as RequestedInput, callerInput !== undefined)
      return { result: await marked(context, server.name, qualifyOfferUris(server, result)) }
    }
    throw unknownOffer(method, params)
  },
})

const requestMs = 60_000

/** A prompt or resource that tries to direct its reader is marked, and logged. */
async function marked({ logger }: OfferContext, source: string, result: Item): Promise<Item> {
  const suspicious = await scanValue(result)
  if (suspicious.length === 0) return result
  logger.warn('a prompt or resource may try to instruct its reader', { source, suspicious: suspicious.join('; ') })
  return markSuspiciousOffer(result, suspicious)
}

/** The URI template of the documents of tools. */
export const toolTemplate = 'tooldex://tools/{id}'
const maxValues = 100

/** The beginning of the id of a tool, if its completion is requested. */
function toolValue({ ref, argument }: Item): string | undefined {
  if ((ref as Item | undefined)?.uri !== toolTemplate) return undefined
  return String((argument as Item | undefined)?.value ?? '').toLowerCase()
}

/** The ids of visible tools whose id or name begins so. */
async function completeTool(context: OfferContext, value: string): Promise<Item> {
  const view = await toolViewOfCaller(context)
  const values: string[] = []
  for (const found of (await context.catalog.open()).list()) {
    const { id, tool } = found
    const begins = id.toLowerCase().startsWith(value) || tool.name.toLowerCase().startsWith(value)
    if (begins && view?.shows(found) !== false) values.push(id)
    if (values.length > maxValues) break
  }
  return { completion: { values: values.slice(0, maxValues), hasMore: values.length > maxValues } }
}

function requestedInput(requested: RequestedInput, canAnswer: boolean) {
  if (!canAnswer) throw new TooldexError('INPUT_REQUIRED', 'The MCP server requests input from its caller.')
  return { result: { ...requested }, requested: true }
}

/** A server without a namespace may reject what another one has. */
async function orUnknown<Result>(
  request: Promise<Result> | undefined,
  isLenient: boolean,
): Promise<Result | undefined> {
  try {
    return await request
  } catch (thrown) {
    if (isLenient) return undefined
    throw upstreamError(thrown)
  }
}

/** The error of an upstream, with its message and, for a request that it rejected, as an error of the request. */
function upstreamError(thrown: unknown): TooldexError {
  if (thrown instanceof TooldexError) return thrown
  const { code, message = 'no reason given' } = thrown as { code?: unknown; message?: string }
  const isRejected = code === -32602 || code === -32002
  return new TooldexError(
    isRejected ? 'NOT_FOUND' : 'UPSTREAM_ERROR',
    `The MCP server responded: ${message.slice(0, 500)}`,
    {
      cause: thrown,
    },
  )
}

function unknownOffer(method: string, params: Item): TooldexError {
  const { name, uri, ref } = params as { name?: unknown; uri?: unknown; ref?: { name?: unknown; uri?: unknown } }
  const what = method === 'resources/read' ? 'resource' : method === 'prompts/get' ? 'prompt' : 'prompt or template'
  const given = String(name ?? uri ?? ref?.name ?? ref?.uri ?? '')
  return new TooldexError('NOT_FOUND', `Unknown ${what}: ${given.slice(0, 200)}.`, {
    hint: `See ${method === 'prompts/get' ? 'prompts/list' : 'resources/list'}.`,
  })
}

/** The upstreams that the workspace may use and no policy hides: the rule of a server is named `mcp:NAME`. */
async function visibleOffers(context: OfferContext): Promise<{
  readonly servers: readonly UpstreamServer[]
  readonly offers: UpstreamOffers | undefined
}> {
  const offers = workspaceOffers(context)
  if (offers === undefined) return { servers: [], offers }
  const view = await toolViewOfCaller(context)
  const isVisible = ({ name }: UpstreamServer) =>
    view?.sees({ name: `mcp:${name}`, namespace: name }, () => ready) ?? true
  return { servers: offers.servers().filter(isVisible), offers }
}
