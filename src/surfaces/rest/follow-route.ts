import { TooldexError } from '../../base/errors.ts'
import type { OperationContext } from '../../operations/operation.ts'
import { followExecution } from '../../operations/runs/follow.ts'

// Each looks at the database once a second; no caller takes all places.
const most = { inAll: 200, ofOne: 50 }
const followers = new Map<string, number>()

/** A run as server-sent events, from the event after the last one that the client has seen. */
export async function followResponse(
  context: OperationContext,
  id: string,
  lastEventId: string | undefined,
): Promise<Response> {
  const leave = takePlace(`${context.caller.workspace}/${context.caller.actor}`)
  try {
    const stopping = new AbortController()
    const { signal: left } = context
    const signal = left === undefined ? stopping.signal : AbortSignal.any([left, stopping.signal])
    const events = followExecution(context, id, readLast(lastEventId), signal)
    // The first event is waited for, so that a run that is not there is an ordinary 404.
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

/** One more who follows; gives what to call, once or more often, when it leaves. */
function takePlace(caller: string): () => void {
  const [own, all] = [followers.get(caller) ?? 0, [...followers.values()].reduce((sum, count) => sum + count, 0)]
  if (all >= most.inAll || own >= most.ofOne)
    throw new TooldexError('TOO_BUSY', `${own >= most.ofOne ? own : all} runs are followed already.`, {
      hint: 'Try again later, or ask for the run now and then.',
    })
  followers.set(caller, own + 1)
  let isHere = true
  return () => {
    if (!isHere) return
    isHere = false
    const left = (followers.get(caller) ?? 1) - 1
    if (left > 0) followers.set(caller, left)
    else followers.delete(caller)
  }
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
        // Whoever listens comes back, and is told then.
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
