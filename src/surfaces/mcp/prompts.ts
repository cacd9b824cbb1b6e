import {
  type CompleteResult,
  type GetPromptResult,
  type InputRequiredResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server'
import { toTooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'
import { type ClientExchange, callerInputOf, readRound, toInputRequired } from './client-rounds.ts'
import { listed } from './resources.ts'

const loadOffers = lazyModule(() => import('../../operations/upstreams/offers.ts'))

/** Serves the prompts of upstreams. */
export function servePrompts(server: Server, client: RegistryClient, exchange: ClientExchange): void {
  server.setRequestHandler('prompts/list', async (_, { mcpReq: { signal } }) => ({
    prompts: (await listed(client, 'prompts', signal)) as unknown as Prompt[],
  }))
  server.setRequestHandler('prompts/get', ({ params }, request) =>
    orProtocolError(async () => {
      const { name, arguments: args = {} } = params
      const round = readRound(server, request, { name, args }, exchange)
      const { requestOffer } = await loadOffers()
      const input = { method: 'prompts/get', params: { name, arguments: args } }
      const { signal } = request.mcpReq
      const response = await client.invoke(requestOffer, input, { signal, callerInput: callerInputOf(round) })
      if (response.requested) return (await toInputRequired(round, response.result as never)) as InputRequiredResult
      return response.result as unknown as GetPromptResult
    }),
  )
}

/** Completes ids of tools, and the arguments of prompts and templates of upstreams. */
export function serveCompletions(server: Server, client: RegistryClient): void {
  server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) =>
    orProtocolError(async (): Promise<CompleteResult> => {
      const { ref, argument } = params
      const { requestOffer } = await loadOffers()
      const { ref: _, argument: __, _meta: ___, ...context } = params
      const input = { method: 'completion/complete', params: { ref, argument, ...context } }
      return (await client.invoke(requestOffer, input, { signal })).result as unknown as CompleteResult
    }),
  )
}

async function orProtocolError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    const { code, message, hint } = toTooldexError(thrown)
    const rpcCode = code === 'INTERNAL' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
    throw new ProtocolError(rpcCode, `${message} ${hint}`.trim())
  }
}
