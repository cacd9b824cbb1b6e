import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../../base/errors.ts'
import { RunEvent } from '../runs/follow.ts'
import { type RemoteServer, requestServer, toSegment } from './remote-client.ts'

const maxTries = 6
const firstPauseMs = 200

/** Follows a run on a server until it has ended; a lost connection is restored and continues at the same event. */
export async function* followRemote(server: RemoteServer, id: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  let last = 0
  for (let tries = 1; tries <= maxTries; tries++) {
    try {
      for await (const event of listen(server, { id, last, signal })) {
        tries = 0
        if (event.event === 'output') last = event.seq
        yield event
        if (event.event === 'end') return
      }
    } catch (thrown) {
      // A rejected request would be rejected again.
      if (thrown instanceof TooldexError && thrown.code !== 'UNAVAILABLE') throw thrown
    }
    if (signal.aborted) return
    await sleep(firstPauseMs * 2 ** tries, undefined, { signal }).catch(() => {})
  }
  throw new TooldexError(
    'UNAVAILABLE',
    `The server at ${server.url} does not answer; the execution ${id} may still run there.`,
    {
      hint: `Read the execution ${id} when the server answers again.`,
    },
  )
}

async function* listen(
  server: RemoteServer,
  { id, last, signal }: { id: string; last: number; signal: AbortSignal },
): AsyncGenerator<RunEvent> {
  const headers = { accept: 'text/event-stream', ...(last === 0 ? {} : { 'last-event-id': String(last) }) }
  const response = await requestServer(server, `/executions/${toSegment('id', id)}/events`, { headers, signal })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = readEvent(block)
      if (event !== undefined) yield event
    }
  }
}

/** Parses one server-sent event; a comment (keep-alive) line is not an event. */
function readEvent(block: string): RunEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const at = line.indexOf(':')
      return [line.slice(0, at), line.slice(at + 1).trimStart()]
    }),
  )
  const data = fields.get('data')
  if (data === undefined) return undefined
  const { success, data: event } = RunEvent.safeParse({ event: fields.get('event'), ...JSON.parse(data) })
  return success ? event : undefined
}
