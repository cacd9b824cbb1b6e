import { TooldexError } from '../base/errors.ts'
import { untilAborted } from '../base/until-aborted.ts'
import { toPathSegment } from './route.ts'
import { pause, pauseBeforeRetry, type RestServer, sendRequest } from './send-request.ts'

/** A server-sent event: its name and the fields of its data. */
export interface ServerEvent {
  readonly event: string
  readonly [field: string]: unknown
}

/** The number of attempts to restore a lost connection. */
const maxTries = 6
/** A stream without a complete event in this many characters is abandoned. */
const maxEventChars = 16 * 1024 * 1024

/** Follows a run until it has ended; a lost connection is restored and continues after the last output received. */
export async function* followEvents(server: RestServer, id: string, signal?: AbortSignal): AsyncGenerator<ServerEvent> {
  let last = 0
  for (let tries = 0; tries < maxTries; tries++) {
    try {
      for await (const event of listen(server, { id, last, signal })) {
        tries = 0
        if (event.event === 'output') last = Number(event.seq)
        yield event
        if (event.event === 'end') return
      }
    } catch (thrown) {
      // A rejected request would be rejected again.
      if (thrown instanceof TooldexError && !thrown.retryable) throw thrown
    }
    signal?.throwIfAborted()
    await pause(pauseBeforeRetry(tries) ?? 0, signal)
  }
  throw new TooldexError(
    'UNAVAILABLE',
    `The server at ${server.url} does not answer; the execution ${id} may still run there.`,
    { hint: `Read the execution ${id} when the server answers again.` },
  )
}

interface Position {
  readonly id: string
  /** The number of the last output received. */
  readonly last: number
  readonly signal?: AbortSignal | undefined
}

async function* listen(server: RestServer, { id, last, signal }: Position): AsyncGenerator<ServerEvent> {
  const headers = { accept: 'text/event-stream', ...(last === 0 ? {} : { 'last-event-id': String(last) }) }
  const request = { method: 'GET', path: `/executions/${toPathSegment('id', id)}/events`, headers }
  const options = { signal, retries: 0, isRepeatable: true }
  const body = await sendRequest(server, request, options, async (response) => response.body)
  const reader = body?.getReader()
  if (reader === undefined) return
  const decoder = new TextDecoder()
  try {
    let text = ''
    const read = () => (signal === undefined ? reader.read() : untilAborted(reader.read(), signal))
    for (let next = await read(); !next.done; next = await read()) {
      // The end of an event may be split, and what was searched before is not searched again.
      let from = Math.max(0, text.length - 1)
      text += decoder.decode(next.value, { stream: true })
      for (let end = text.indexOf('\n\n', from); end !== -1; end = text.indexOf('\n\n', from)) {
        yield* readEvent(text.slice(0, end))
        text = text.slice(end + 2)
        from = 0
      }
      if (text.length > maxEventChars)
        throw new TooldexError('TOO_LARGE', `An event of the execution ${id} is too large.`)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Parses one block of the stream; a comment, which keeps the connection alive, is not an event. */
function* readEvent(block: string): Generator<ServerEvent> {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const at = line.indexOf(':')
      return [line.slice(0, at), line.slice(at + 1).trimStart()]
    }),
  )
  const data = fields.get('data')
  if (data !== undefined) yield { ...(JSON.parse(data) as object), event: fields.get('event') ?? 'message' }
}
