import { randomBytes, randomUUID } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { BoundedMap } from '../../base/bounded-map.ts'
import { TooldexError } from '../../base/errors.ts'
import { hashJson } from '../../base/json-text.ts'
import type { CallerInput, RequestedInput } from '../../contract/executor.ts'
import type { Caller, ExchangeStore } from '../../contract/stores.ts'
import type { CallAnswer } from '../../operations/runs/call-tool.ts'

/** What a request of a client may refer to: the caller, and the values of earlier requests. */
export interface ClientExchange {
  readonly caller: Caller
  readonly exchanges: ExchangeStore
}

/** The stored side of a `requestState`: the request it belongs to, and the position in its course. */
export interface RoundState {
  readonly request: string
  /** The execution that waits for approval. */
  readonly executionId?: string | undefined
  /** Whether the client was requested to open the page of a sign-in. */
  readonly signIn?: boolean | undefined
  /** The state of the upstream that requested input. */
  readonly upstream?: string | undefined
}

/** One of several requests of a client that together are one call. */
export interface Round {
  readonly capabilities: ClientCapabilities
  readonly responses: Readonly<Record<string, unknown>> | undefined
  readonly resumed: RoundState | undefined
  /** Stores the state for the next request, and returns its handle. */
  keep(state: Omit<RoundState, 'request'>): Promise<string>
}

const statePrefix = 'state:'

/**
 * Resolves a `requestState`: an unguessable handle of a stored value. It belongs to one caller and is valid once, on any replica.
 */
export const resumeState =
  ({ caller, exchanges }: ClientExchange) =>
  async (handle: string): Promise<RoundState> => {
    const state = /^[\w-]{43}$/.test(handle) ? await exchanges.take(caller, statePrefix + handle) : undefined
    if (state === undefined) throw new Error('unknown, used or expired')
    return state as RoundState
  }

/** Reads the part of a request that relates it to earlier ones. */
export function readRound(server: Server, request: ServerContext, params: unknown, exchange: ClientExchange): Round {
  const { mcpReq } = request
  // Most requests stand alone, so they are not hashed.
  const id = () => hashJson([mcpReq.method, params])
  const resumed = mcpReq.requestState<RoundState>()
  if (resumed !== undefined && resumed.request !== id())
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The requestState belongs to another request.')
  return {
    capabilities: capabilitiesOf(server, request),
    responses: mcpReq.inputResponses,
    resumed,
    async keep(state) {
      const handle = randomBytes(32).toString('base64url')
      await exchange.exchanges.put(exchange.caller, statePrefix + handle, { ...state, request: id() })
      return handle
    },
  }
}

/** The capabilities that a client declares: with each request, or at `initialize`. */
export const capabilitiesOf = (server: Server, { mcpReq }: ServerContext): ClientCapabilities =>
  ((mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
    | ClientCapabilities
    | undefined) ??
  server.getClientCapabilities() ??
  {}

/** The part of the capabilities that upstreams may use, and the level of the log that the client wants; undefined if there is none. */
export function callerInputOf(
  { capabilities, responses, resumed }: Round,
  logLevel?: CallerInput['logLevel'],
): CallerInput | undefined {
  const { elicitation, sampling, roots } = capabilities
  const usable = Object.entries({ elicitation, sampling, roots }).filter(([, each]) => each !== undefined)
  if (usable.length === 0) return logLevel && { capabilities: {}, logLevel }
  const answers = resumed?.signIn === true ? undefined : responses
  return { capabilities: Object.fromEntries(usable), responses: answers, state: resumed?.upstream, logLevel }
}

/** Passes the requests of an upstream on to the client. */
export async function toInputRequired(round: Round, requested: RequestedInput): Promise<InputRequiredResult> {
  const { inputRequests, requestState } = requested
  const state = requestState === undefined ? {} : { requestState: await round.keep({ upstream: requestState }) }
  const requests = inputRequests as InputRequiredResult['inputRequests']
  return { resultType: 'input_required', ...(requests === undefined ? {} : { inputRequests: requests }), ...state }
}

/** Values of a process that serves one client, without a database. */
export class MemoryExchanges implements ExchangeStore {
  readonly #values = new BoundedMap<string, unknown>(1000)

  async put(_caller: Caller, id: string, value: unknown): Promise<void> {
    this.#values.set(id, value)
  }

  async get(_caller: Caller, id: string): Promise<unknown> {
    return this.#values.get(id)
  }

  async take(_caller: Caller, id: string): Promise<unknown> {
    const value = this.#values.get(id)
    this.#values.delete(id)
    return value
  }
}

const key = 'sign-in'

/**
 * The answer to a call, or the request that the user of the client opens the page of a sign-in; the repeated call finds the
 * account. For a client that opens no URLs, and a user who was asked already, the error names the URL.
 */
export async function orSignIn(
  call: Promise<CallAnswer>,
  round: Round | undefined,
): Promise<CallAnswer | InputRequiredResult> {
  try {
    return await call
  } catch (thrown) {
    const isSignIn = thrown instanceof TooldexError && thrown.code === 'SIGN_IN_REQUIRED'
    const opensUrls = round?.capabilities.elicitation?.url !== undefined && round.resumed?.signIn !== true
    if (!isSignIn || thrown.url === undefined || !opensUrls) throw thrown
    const message = `${thrown.message} Sign in on this page; the call is repeated after that.`
    const params = { mode: 'url' as const, url: thrown.url, message, elicitationId: randomUUID() }
    const requestState = await round.keep({ signIn: true })
    const inputRequests = { [key]: { method: 'elicitation/create' as const, params } }
    return { resultType: 'input_required', inputRequests, requestState } as InputRequiredResult
  }
}
