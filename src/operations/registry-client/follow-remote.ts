import { followEvents } from '../../http-client/follow.ts'
import { RunEvent } from '../runs/follow.ts'
import type { RemoteServer } from './remote-client.ts'

/** Follows a run on a server until it has ended, or until the signal is aborted. */
export async function* followRemote(server: RemoteServer, id: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  try {
    for await (const event of followEvents(server, id, signal)) {
      const { success, data } = RunEvent.safeParse(event)
      if (success) yield data
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}
