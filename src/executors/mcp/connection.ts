import {
  type CallToolResult,
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Progress,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/client'
import { packageVersion } from '../../base/package-info.ts'
import type { HttpTransport } from './http-transport.ts'
import type { LineEnd, MessageCheck } from './message-check.ts'
import type { StdioTransport } from './stdio-transport.ts'

/** One call of one tool. */
export interface UpstreamCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly traceparent?: string | undefined
  readonly onProgress: (progress: Progress) => void
}

/** A line that was made, and what is counted on it. */
export interface OpenedTransport {
  readonly line: StdioTransport | HttpTransport
  readonly check: MessageCheck
}

const probeMs = 10_000
const maxPages = 20
// Deadlines are the caller's; the client's own would be shorter than some of them.
const noDeadline = 2 ** 31 - 1

// What a server promises of its results is checked against the schema of the registered tool, by a validator that no
// pattern can hold up; the server's own schemas are never compiled, and what they refer to is never fetched.
const takesEverything: jsonSchemaValidator = {
  getValidator: <T>(): JsonSchemaValidator<T> => {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined })
  },
}

/** A server that answered. */
export class Connection {
  readonly #client: Client
  readonly #made: OpenedTransport
  #ended = false

  private constructor(client: Client, made: OpenedTransport, onEnd: () => void) {
    this.#client = client
    this.#made = made
    client.onclose = () => {
      this.#ended = true
      onEnd()
    }
  }

  /**
   * Connects in whichever revision of the protocol the server speaks. A program that ends at a question it does not know is
   * started again and greeted in the older way.
   */
  static async open(make: () => Promise<OpenedTransport>, timeoutMs: number, onEnd: () => void): Promise<Connection> {
    const until = performance.now() + timeoutMs
    const made = await make()
    try {
      return await greet(made, until, onEnd)
    } catch (error) {
      if (!endedWhenAsked(error, made)) throw named(error, made)
    }
    const again = await make()
    return greet(again, until, onEnd, 'legacy').catch((error) => {
      throw named(error, again)
    })
  }

  static adopt(client: Client, made: OpenedTransport, onEnd: () => void): Connection {
    return new Connection(client, made, onEnd)
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Why the server is gone, where that was not our wish. */
  get why(): string | undefined {
    return this.#made.line.why
  }

  get end(): LineEnd | undefined {
    return this.#made.line.end
  }

  get ignored(): MessageCheck['ignored'] {
    return this.#made.check.ignored
  }

  /** The process that it is, where it is one. */
  get pid(): number | null {
    return 'pid' in this.#made.line ? this.#made.line.pid : null
  }

  /** The revision that is spoken. */
  get revision(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion()
  }

  call({ tool, input, traceparent, onProgress }: UpstreamCall, signal: AbortSignal): Promise<CallToolResult> {
    const meta = traceparent === undefined ? {} : { _meta: { [TRACEPARENT_META_KEY]: traceparent } }
    const options = { signal, timeout: noDeadline, onprogress: onProgress }
    return this.#client.callTool({ name: tool, arguments: input, ...meta }, options)
  }

  /** The names of the server's tools. */
  async listTools(signal: AbortSignal): Promise<readonly string[]> {
    const { tools } = await this.#client.listTools(undefined, { signal, cacheMode: 'bypass' })
    return tools.map(({ name }) => name)
  }

  /** Whether the server still answers at all. */
  async isAlive(withinMs: number): Promise<boolean> {
    const options = { timeout: withinMs }
    const asked =
      this.#client.getProtocolEra() === 'modern' ? this.#client.discover(options) : this.#client.ping(options)
    return asked.then(
      () => true,
      (error) => !(error instanceof SdkError),
    )
  }

  /** Whether the server has forgotten the session, so that nothing of a call was done. */
  isForgotten(error: unknown): boolean {
    return this.#made.line.sessionId !== undefined && error instanceof SdkHttpError && error.data.status === 404
  }

  fail(why: string): void {
    this.#made.line.fail(why)
  }

  async close(): Promise<void> {
    await this.#client.close()
    await this.#made.line.close()
  }
}

async function greet(made: OpenedTransport, until: number, onEnd: () => void, only?: 'legacy'): Promise<Connection> {
  const leftMs = Math.max(1, until - performance.now())
  const client = new Client(
    { name: 'tooldex', version: packageVersion() },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMs, leftMs / 2) } },
      // Nobody is here to be asked: what a server wants of a model or a person is refused.
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: takesEverything,
      listMaxPages: maxPages,
    },
  )
  client.onerror = () => {}
  const late = setTimeout(() => made.line.fail(`did not answer within ${Math.round(leftMs)} ms`), leftMs)
  try {
    const prior = only === undefined ? {} : { prior: { kind: only } as const }
    await client.connect(made.line, { timeout: leftMs, ...prior })
    return Connection.adopt(client, made, onEnd)
  } catch (error) {
    await made.line.close()
    throw error
  } finally {
    clearTimeout(late)
  }
}

const endedWhenAsked = (error: unknown, { line }: OpenedTransport): boolean =>
  error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed && line.end === 'exited'

/** The reason that the line knows says more than that it is closed. */
const named = (error: unknown, { line }: OpenedTransport): unknown =>
  line.why === undefined ? error : new Error(line.why, { cause: error })
