import type * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { toRestRequest } from '../../http-client/route.ts'
import { type RestServer, readJsonResponse, type SendOptions, sendRequest } from '../../http-client/send-request.ts'
import type { Operation } from '../operation.ts'
import { recoveryHint } from '../registry/keys.ts'
import type { RegistryClient, RequestControls } from './registry-client.ts'

const loadCallRemote = lazyModule(() => import('./call-remote.ts'))

/** The server that operations are sent to; the URL is read for each request, because a restart may change it. */
export interface RemoteServer extends Pick<RestServer, 'url' | 'traceparent' | 'headers'> {
  readonly key: string | undefined
}

/** Runs operations on a server. */
export function openRemoteClient(server: RemoteServer, ending: AbortSignal): RegistryClient {
  const until = (signal: AbortSignal | undefined) => (signal === undefined ? ending : AbortSignal.any([ending, signal]))
  return {
    invoke: (operation, input, { signal, trace }: RequestControls = {}) =>
      invokeRemote(traced(server, trace), operation, input, { signal: until(signal) }),
    call: async (call, controls) => {
      const { callRemoteTool } = await loadCallRemote()
      return callRemoteTool(traced(server, controls.trace), call, controls, until(controls.signal))
    },
    async *follow(id) {
      yield* (await loadCallRemote()).followRemoteRun(server, id, ending)
    },
    close: async () => {},
  }
}

/** The same server, for the requests of one trace. */
const traced = (server: RemoteServer, trace: RequestControls['trace']): RemoteServer =>
  trace?.traceparent === undefined ? server : Object.create(server, { traceparent: { value: trace.traceparent } })

const defaultDeadlineMs = 60_000

/** The limits of a request; it is sent once where `retries` is absent. */
interface RemoteOptions extends Pick<SendOptions, 'pauseSignal' | 'onPause'> {
  readonly signal?: AbortSignal | undefined
  readonly retries?: number
}

/** Runs an operation on a server; a stream has no deadline, but ends with the signal. */
export async function invokeRemote<Input extends z.ZodType, Output extends z.ZodType>(
  remote: RemoteServer,
  operation: Operation<Input, Output>,
  input: Record<string, unknown>,
  options: RemoteOptions,
): Promise<z.output<Output>> {
  if (operation.http?.media !== undefined)
    return operation.output.parse(
      await sendOperation(remote, operation, input, options, async (response) => response.body),
    )
  const timeoutMs = operation.http?.deadlineMs ?? defaultDeadlineMs
  return operation.output.parse(
    await sendOperation(remote, operation, input, { ...options, timeoutMs }, readJsonResponse),
  )
}

/** Sends the request of an operation and reads its response; an error response is thrown. */
export async function sendOperation<Result>(
  server: RemoteServer,
  { name, http }: Pick<Operation<z.ZodType, z.ZodType>, 'name' | 'http'>,
  input: Record<string, unknown>,
  { retries = 0, ...options }: RemoteOptions & { readonly timeoutMs?: number },
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  if (http === undefined) throw new TooldexError('USAGE', `${name} is not available on a server; omit --server.`)
  const request = toRestRequest(http, input)
  try {
    return await sendRequest(server, request, { ...options, retries, isRepeatable: retries > 0 }, read)
  } catch (thrown) {
    throw explain(server, thrown)
  }
}

/** Names the setting for a missing key; an aborted request has no answer. */
function explain({ url }: RemoteServer, thrown: unknown): TooldexError {
  if (!(thrown instanceof TooldexError))
    return new TooldexError('UNAVAILABLE', `The request to ${url} was cancelled.`, { cause: thrown })
  if (thrown.code !== 'UNAUTHORIZED') return thrown
  const { code, message, problems } = thrown
  const hint = `Set TOOLDEX_API_KEY to a valid key. ${recoveryHint}`
  return new TooldexError(code, `The server at ${url}: ${message}`, { problems, hint })
}
