import { TooldexError } from '../../base/errors.ts'
import type { OperationContext } from '../../operations/operation.ts'
import { followExecution } from '../../operations/runs/follow.ts'

// Each looks at the database once a second.
const mostFollowers = 200
let followers = 0

/** A run as server-sent events; whoever comes back says what was seen last. */
export async function followResponse(context: OperationContext, id: string, request: Request): Promise<Response> {
  if (followers >= mostFollowers)
    throw new TooldexError('TOO_BUSY', `${mostFollowers} runs are followed already.`, {
      hint: 'Try again later, or ask for the run now and then.',
    })
  const stopping = new AbortController()
  const signal = AbortSignal.any([request.signal, stopping.signal])
  const events = followExecution(context, id, readLast(request.headers.get('last-event-id')), signal)
  // The first event is waited for, so that a run that is not there is an ordinary 404.
  const first = await events.next()
  const body = toStream(events, first, () => stopping.abort())
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
}

type Events = ReturnType<typeof followExecution>

function toStream(events: Events, first: Awaited<ReturnType<Events['next']>>, stop: () => void): ReadableStream {
  const encoder = new TextEncoder()
  let next: typeof first | undefined = first
  let counted = 1
  const leave = (): void => {
    followers -= counted
    counted = 0
  }
  followers += counted
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = next ?? (await events.next())
        next = undefined
        if (!done) return controller.enqueue(encoder.encode(value === undefined ? ': still here\n\n' : toText(value)))
      } catch {
        // Whoever listens comes back, and is told then.
      }
      leave()
      controller.close()
    },
    cancel() {
      leave()
      stop()
    },
  })
}

const readLast = (given: string | null): number => (given !== null && /^\d{1,12}$/.test(given) ? Number(given) : 0)

function toText({ event, ...data }: { event: string; seq?: number }): string {
  const id = data.seq === undefined ? '' : `id: ${data.seq}\n`
  return `event: ${event}\n${id}data: ${JSON.stringify(data)}\n\n`
}
