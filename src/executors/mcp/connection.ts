import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  Client,
  isInputRequiredResult,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  LOG_LEVEL_META_KEY,
  type Progress,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/client'
import * as z from 'zod'
import { packageVersion } from '../../base/package-info.ts'
import type { CallerInput, LogMessage, MessageLevel, RequestedInput } from '../../contract/executor.ts'
import type { OfferMethod, OfferResult, UpstreamRequest } from '../../contract/mcp-server.ts'
import { SessionLevel } from './call-logs.ts'
import type { HttpTransport } from './http-transport.ts'
import type { LineEnd, MessageCheck } from './message-check.ts'
import { type StdioTransport, UndeliveredError } from './stdio-transport.ts'

/** One call of one tool. */
export interface UpstreamCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly traceparent?: string | undefined
  readonly onProgress: (progress: Progress) => void
  /** Receives the log messages that the call causes, from this level on. */
  readonly onLog: (message: LogMessage) => void
  readonly logLevel: MessageLevel
  /** Whose call it is. */
  readonly caller: string
  readonly callerInput?: CallerInput | undefined
  /** Whether the tool declares that a repeated call has no further effect. */
  readonly isRepeatable?: boolean | undefined
}

/** The result of a call, or the input that the server requests first. */
export type UpstreamResult = CallToolResult | RequestedInput

/** A transport with the check of its messages. */
export interface OpenedTransport {
  readonly line: StdioTransport | HttpTransport
  readonly check: MessageCheck
  /** Opens the older transport of a URL, for a server that does not know the newer one. */
  readonly openOlder?: (() => Promise<OpenedTransport>) | undefined
  /** Whether the server is of the older revisions for certain. */
  readonly isOlder?: boolean | undefined
}

const probeMs = 10_000
const maxPages = 20
// Callers set the deadlines; the default of the client would be shorter than some of them.
const noDeadline = 2 ** 31 - 1

// Results are validated against the schema of the registered tool, by a validator that no pattern can stall; the schemas
// of the server are never compiled, and their references are never fetched.
const acceptsEverything: jsonSchemaValidator = {
  getValidator: <T>(): JsonSchemaValidator<T> => {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined })
  },
}

// One item that is not valid would make the list unreadable; each item is validated where it is used.
const anyList = z.looseObject({})

/** The listeners of a connection. */
export interface ConnectionEvents {
  readonly onEnd: () => void
  /** Called when the server announces changed tools, prompts or resources; without it, no announcements are requested. */
  readonly onListChanged?: (() => void) | undefined
}

/** An initialized connection to a server. */
export class Connection {
  readonly #client: Client
  readonly #opened: OpenedTransport
  #ended = false
  readonly #level: SessionLevel

  private constructor(client: Client, opened: OpenedTransport, onEnd: () => void) {
    this.#client = client
    this.#level = new SessionLevel((level, options) => client.setLoggingLevel(level, options))
    this.#opened = opened
    client.onclose = () => {
      this.#ended = true
      onEnd()
    }
  }

  /**
   * Connects with the protocol revision that the server supports. A program that exits on an unknown request is restarted and
   * initialized with the older handshake.
   */
  static async open(
    open: () => Promise<OpenedTransport>,
    timeoutMs: number,
    events: ConnectionEvents,
  ): Promise<Connection> {
    const deadline = performance.now() + timeoutMs
    const opened = await open()
    let failure: unknown
    try {
      return await initialize(opened, deadline, events, opened.isOlder === true ? 'legacy' : undefined)
    } catch (error) {
      failure = error
    }
    const openAgain = exitedOnProbe(failure, opened) ? open : opened.openOlder
    if (openAgain === undefined || (openAgain !== open && !isUnknownRequest(failure))) throw withReason(failure, opened)
    const again = await openAgain()
    return initialize(again, deadline, events, 'legacy').catch((error) => {
      // A URL with neither transport fails with the reason of the newer one.
      throw openAgain === open ? withReason(error, again) : failure
    })
  }

  static adopt(client: Client, opened: OpenedTransport, onEnd: () => void): Connection {
    return new Connection(client, opened, onEnd)
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The reason why the connection ended, unless it was closed on purpose. */
  get why(): string | undefined {
    return this.#opened.line.why
  }

  get end(): LineEnd | undefined {
    return this.#opened.line.end
  }

  get ignored(): MessageCheck['ignored'] {
    return this.#opened.check.ignored
  }

  /** The process id of a stdio server, else null. */
  get pid(): number | null {
    return 'pid' in this.#opened.line ? this.#opened.line.pid : null
  }

  /** The negotiated protocol revision. */
  get revision(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion()
  }

  async call(call: UpstreamCall, signal: AbortSignal): Promise<UpstreamResult> {
    const { tool, onProgress, caller, onLog: take } = call
    const options = { signal, timeout: noDeadline, onprogress: onProgress, allowInputRequired: true }
    if (this.#client.getProtocolEra() !== 'modern' && this.has('logging'))
      await this.#level.request(call.logLevel, signal)
    const input = { ...call.input }
    const end = this.#opened.check.logs.begin({ key: input, caller, take })
    try {
      const result = await this.#client.callTool({ name: tool, arguments: input, ...this.#fieldsOf(call) }, options)
      return toRequested(result) ?? result
    } finally {
      end()
    }
  }

  /** Any other request; the result may be a request for input. */
  async request(
    method: OfferMethod | 'tools/list',
    { params, signal, ...call }: UpstreamRequest,
  ): Promise<OfferResult> {
    const options = { signal, timeout: noDeadline, allowInputRequired: true }
    const sent = { method, params: { ...params, ...this.#fieldsOf(call) } }
    if (method.endsWith('/list')) return this.#client.request(sent, anyList, options).then(toOffer)
    // Its log messages must not be taken for those of a call.
    const end = this.#opened.check.logs.begin({ key: sent, caller: call.caller ?? '', take: () => {} })
    return this.#client.request(sent, options).then(toOffer).finally(end)
  }

  /** What the server says about itself. */
  get about() {
    return { serverInfo: this.#client.getServerVersion(), instructions: this.#client.getInstructions() }
  }

  /** Whether the server offers tools, prompts, resources, completions or log messages. */
  has(capability: 'tools' | 'prompts' | 'resources' | 'completions' | 'logging'): boolean {
    return this.#client.getServerCapabilities()?.[capability] !== undefined
  }

  /** Trace, capabilities and responses of the caller; only servers of the current revision relate their requests to a call. */
  #fieldsOf({
    traceparent,
    callerInput,
    logLevel,
  }: Pick<UpstreamCall, 'traceparent' | 'callerInput'> & { readonly logLevel?: MessageLevel }) {
    const isModern = this.#client.getProtocolEra() === 'modern'
    const _meta = {
      ...(traceparent === undefined ? {} : { [TRACEPARENT_META_KEY]: traceparent }),
      ...(logLevel === undefined || !isModern ? {} : { [LOG_LEVEL_META_KEY]: logLevel }),
      ...(callerInput === undefined || !isModern ? {} : { [CLIENT_CAPABILITIES_META_KEY]: callerInput.capabilities }),
    }
    const { responses, state } = (isModern ? callerInput : undefined) ?? {}
    return {
      ...(Object.keys(_meta).length === 0 ? {} : { _meta }),
      ...(responses === undefined ? {} : { inputResponses: responses }),
      ...(state === undefined ? {} : { requestState: state }),
    }
  }

  /** Whether the server still responds. */
  async isAlive(withinMs: number): Promise<boolean> {
    const options = { timeout: withinMs }
    const response =
      this.#client.getProtocolEra() === 'modern' ? this.#client.discover(options) : this.#client.ping(options)
    return response.then(
      () => true,
      (error) => !(error instanceof SdkError),
    )
  }

  /** Whether an error means that the session expired, so that the call was not executed. */
  isForgotten(error: unknown): boolean {
    return this.#opened.line.sessionId !== undefined && error instanceof SdkHttpError && error.data.status === 404
  }

  /** Whether an error means that the server had ended before it received the request. */
  isUndelivered(error: unknown): boolean {
    return error instanceof UndeliveredError
  }

  fail(why: string): void {
    this.#opened.line.fail(why)
  }

  async close(): Promise<void> {
    await this.#client.close()
    await this.#opened.line.close()
  }
}

/** Nothing is read here; the lists have limits of their own. */
function handlersOf(onListChanged: () => void) {
  const handler = { autoRefresh: false, onChanged: onListChanged }
  return { tools: handler, prompts: handler, resources: handler }
}

async function initialize(
  opened: OpenedTransport,
  deadline: number,
  { onEnd, onListChanged }: ConnectionEvents,
  only?: 'legacy',
): Promise<Connection> {
  const leftMs = Math.max(1, deadline - performance.now())
  const client = new Client(
    { name: 'tooldex', version: packageVersion() },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMs, leftMs / 2) } },
      // Requests of a server to the caller are passed on, never answered here.
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: acceptsEverything,
      listMaxPages: maxPages,
      ...(onListChanged === undefined ? {} : { listChanged: handlersOf(onListChanged) }),
    },
  )
  client.onerror = () => {}
  const timer = setTimeout(() => opened.line.fail(`did not respond within ${Math.round(leftMs)} ms`), leftMs)
  try {
    const prior = only === undefined ? {} : { prior: { kind: only } as const }
    await client.connect(opened.line, { timeout: leftMs, ...prior })
    return Connection.adopt(client, opened, onEnd)
  } catch (error) {
    await opened.line.close()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

const toOffer = (result: object): OfferResult => toRequested(result) ?? (result as Readonly<Record<string, unknown>>)

/** The requests of a server to the caller; undefined for a complete result. */
function toRequested(result: object): RequestedInput | undefined {
  if (!isInputRequiredResult(result)) return undefined
  const { inputRequests = {}, requestState } = result
  return { inputRequests, ...(requestState === undefined ? {} : { requestState }) }
}

const exitedOnProbe = (error: unknown, { line }: OpenedTransport): boolean =>
  error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed && line.end === 'exited'

/** The statuses by which a server of the older transport rejects a POST to the URL of its event stream. */
const isUnknownRequest = (error: unknown): boolean =>
  error instanceof SdkHttpError && [400, 404, 405].includes(error.data.status)

/** The reason of the transport is more specific than the error of the client. */
const withReason = (error: unknown, { line }: OpenedTransport): unknown =>
  line.why === undefined ? error : new Error(line.why, { cause: error })
