import { randomUUID } from 'node:crypto'
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Caller } from '../../contract/stores.ts'

const sessionHeader = 'mcp-session-id'

/** One request of a client, with the server object that responds to it. */
interface LegacyRequest {
  readonly body: unknown
  readonly caller: Caller
  readonly server: Server
}

interface Message {
  readonly method?: string
  readonly id?: string | number
  readonly params?: { readonly requestId?: string | number; readonly _meta?: { readonly progressToken?: unknown } }
}

/**
 * Serves the revisions before 2026-07-28. Nothing is stored for a session, so every replica responds to every request and a restart
 * loses nothing; the id of a session only relates a cancellation to the request of the same client.
 */
export class LegacyExchanges {
  readonly #running = new Map<string, () => void>()

  async respond(request: Request, { body, caller, server }: LegacyRequest): Promise<Response> {
    // As JSON, so that no name of a caller or a session continues as another one.
    const session = `${JSON.stringify([caller.workspace, caller.actor, request.headers.get(sessionHeader) ?? randomUUID()])} `
    if (request.method === 'DELETE') return this.#end(session)
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST, DELETE' } })
    const messages = (Array.isArray(body) ? body : [body]) as readonly (Message | null)[]
    for (const message of messages)
      if (message?.method === 'notifications/cancelled') this.#running.get(session + message.params?.requestId)?.()
    const cancelled = new AbortController()
    const ids = messages.flatMap((message) =>
      message?.method === undefined || message.id === undefined ? [] : [session + message.id],
    )
    for (const id of ids) this.#running.set(id, () => cancelled.abort(new CancelledRequest()))
    const finish = () => {
      for (const id of ids) this.#running.delete(id)
      void server.close().catch(() => {})
    }
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !wantsProgress(messages) })
    await server.connect(transport)
    const ending = AbortSignal.any([request.signal, cancelled.signal])
    // Closing the server cancels its calls.
    ending.addEventListener('abort', finish, { once: true })
    try {
      const response = await unless(ending, transport.handleRequest(request, { parsedBody: body }))
      if (messages.some((message) => message?.method === 'initialize') && response.ok)
        response.headers.set(sessionHeader, randomUUID())
      if (isStream(response)) return onceRead(response, finish)
      finish()
      return response
    } catch (thrown) {
      finish()
      if (thrown instanceof CancelledRequest) return new Response(null, { status: 202 })
      throw thrown
    }
  }

  /** Cancels what a session still runs. */
  #end(session: string): Response {
    for (const [id, cancel] of this.#running) if (id.startsWith(session)) cancel()
    return new Response(null, { status: 204 })
  }
}

/** The client has cancelled its request and expects no response. */
class CancelledRequest extends Error {}

/** Whether a message asks for notifications before its response; without them a plain response is cheaper. */
const wantsProgress = (messages: readonly (Message | null)[]): boolean =>
  messages.some((message) => message?.params?._meta?.progressToken !== undefined)

const isStream = ({ headers }: Response): boolean => headers.get('content-type') === 'text/event-stream'

/** Waits for a result until the signal is aborted. */
function unless<Result>(signal: AbortSignal, result: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** The response with a callback at the end of its stream. */
function onceRead(response: Response, done: () => void): Response {
  const { status, headers, body } = response
  return new Response(body?.pipeThrough(new TransformStream({ flush: done })) ?? null, { status, headers })
}
