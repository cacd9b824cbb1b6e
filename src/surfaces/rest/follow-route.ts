import type { OperationContext } from '../../operations/operation.ts'
import { followExecution } from '../../operations/runs/follow.ts'

/** A run as server-sent events; whoever comes back says what was seen last. */
export async function followResponse(context: OperationContext, id: string, request: Request): Promise<Response> {
  const stopping = new AbortController()
  const signal = AbortSignal.any([request.signal, stopping.signal])
  const events = followExecution(context, id, readLast(request.headers.get('last-event-id')), signal)
  // The first event is waited for, so that a run that is not there is an ordinary 404.
  let next: ReturnType<typeof events.next> | undefined = Promise.resolve(await events.next())
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await (next ?? events.next())
        next = undefined
        if (done) return controller.close()
        controller.enqueue(encoder.encode(value === undefined ? ': still here\n\n' : toText(value)))
      } catch {
        controller.close()
      }
    },
    cancel: () => stopping.abort(),
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
}

const readLast = (given: string | null): number => (given !== null && /^\d{1,12}$/.test(given) ? Number(given) : 0)

function toText({ event, ...data }: { event: string; seq?: number }): string {
  const id = data.seq === undefined ? '' : `id: ${data.seq}\n`
  return `event: ${event}\n${id}data: ${JSON.stringify(data)}\n\n`
}
