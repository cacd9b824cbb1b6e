import { TooldexError } from '../../base/errors.ts'
import { CallerSlots } from '../../base/semaphore.ts'
import type { ServerContext } from '../../operations/operation.ts'
import { followExecution } from '../../operations/runs/follow.ts'

// Each follower queries the database once a second; the limit for one caller keeps slots free for others.
const followers = new CallerSlots({ total: 200, perCaller: 50 })

/** A run as server-sent events, from the event after the last one that the client has seen. */
export async function followResponse(
  context: ServerContext,
  id: string,
  lastEventId: string | undefined,
): Promise<Response> {
  const leave = takeSlot(`${context.caller.workspace}/${context.caller.actor}`)
  try {
    const stopping = new AbortController()
    const { signal: left } = context
    const signal = left === undefined ? stopping.signal : AbortSignal.any([left, stopping.signal])
    const events = followExecution(context, id, readLast(lastEventId), signal)
    // Waits for the first event, so that a missing run is an ordinary 404.
    const first = await events.next()
    const end = (): void => {
      leave()
      stopping.abort()
    }
    const body = toStream(events, first, end)
    return new Response(body, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
  } catch (error) {
    leave()
    throw error
  }
}

function takeSlot(caller: string): () => void {
  const leave = followers.take(caller)
  if (typeof leave !== 'number') return leave
  throw new TooldexError('TOO_BUSY', `${leave} runs are already followed.`, {
    hint: 'Try again later, or poll the execution instead.',
  })
}

type Events = ReturnType<typeof followExecution>

function toStream(events: Events, first: Awaited<ReturnType<Events['next']>>, end: () => void): ReadableStream {
  const encoder = new TextEncoder()
  let next: typeof first | undefined = first
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = next ?? (await events.next())
        next = undefined
        if (!done) return controller.enqueue(encoder.encode(value === undefined ? ': still here\n\n' : toText(value)))
      } catch {
        // The client reconnects and then receives the error.
      }
      end()
      controller.close()
    },
    cancel: end,
  })
}

const readLast = (text: string | undefined): number =>
  text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : 0

function toText({ event, ...data }: { event: string; seq?: number }): string {
  const id = data.seq === undefined ? '' : `id: ${data.seq}\n`
  return `event: ${event}\n${id}data: ${JSON.stringify(data)}\n\n`
}
