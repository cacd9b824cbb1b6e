import { hashJson } from '../../base/json-text.ts'
import { isObject } from '../../base/json-values.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'
import { readResource } from './resources.ts'

const pollMs = 30_000
const keepAliveMs = 15_000
/** The number of resources that one client can subscribe to. */
export const maxWatched = 20

/** The resources that a message subscribes to, in either revision. */
export function subscribedUris(message: unknown): readonly string[] {
  if (!isObject(message) || !isObject(message.params)) return []
  const { uri, notifications } = message.params
  if (message.method === 'resources/subscribe') return typeof uri === 'string' ? [uri] : []
  if (message.method !== 'subscriptions/listen') return []
  const uris = isObject(notifications) ? notifications.resourceSubscriptions : undefined
  return Array.isArray(uris) ? uris.filter((each) => typeof each === 'string').slice(0, maxWatched) : []
}

/** The source of changes that subscribers are notified of. */
export interface Changes {
  readonly client: RegistryClient
  onChange(listener: () => void): () => void
}

/**
 * Reports changed resources until the signal is aborted. Their contents are compared after each change of the catalog and at intervals,
 * because not every upstream announces changes.
 */
export function watchResources(
  changes: Changes,
  uris: readonly string[],
  onUpdated: (uri: string) => void,
  signal: AbortSignal,
): void {
  const marks = new Map<string, string | undefined>()
  let checking: Promise<void> | undefined
  const check = async () => {
    for (const uri of uris.slice(0, maxWatched)) {
      if (signal.aborted) return
      const mark = await readResource(changes.client, uri, { signal }).then(hashJson, () => undefined)
      if (marks.has(uri) && marks.get(uri) !== mark) onUpdated(uri)
      marks.set(uri, mark)
    }
  }
  const run = () => {
    checking ??= check().finally(() => {
      checking = undefined
    })
    checking.catch(() => {})
  }
  if (uris.length === 0) return
  run()
  const timer = setInterval(run, pollMs)
  timer.unref()
  const stop = changes.onChange(run)
  signal.addEventListener(
    'abort',
    () => {
      clearInterval(timer)
      stop()
    },
    { once: true },
  )
}

/** The stream of notifications of an earlier revision: changes of the list of tools, and of subscribed resources. */
export function notificationStream(changes: Changes, uris: readonly string[], signal: AbortSignal): Response {
  const encoder = new TextEncoder()
  const ending = new AbortController()
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string) => {
        // A client that does not read must not make this process buffer without bound.
        if ((controller.desiredSize ?? 0) < -maxBuffered) return ending.abort()
        controller.enqueue(encoder.encode(text))
      }
      const notify = (method: string, params?: object) =>
        write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) })}\n\n`)
      const timer = setInterval(() => write(': keep-alive\n\n'), keepAliveMs)
      const stop = changes.onChange(() => notify('notifications/tools/list_changed'))
      const end = AbortSignal.any([signal, ending.signal])
      watchResources(changes, uris, (uri) => notify('notifications/resources/updated', { uri }), end)
      end.addEventListener(
        'abort',
        () => {
          clearInterval(timer)
          stop()
          controller.close()
        },
        { once: true },
      )
      write(': open\n\n')
    },
    cancel: () => ending.abort(),
  })
  return new Response(stream, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } })
}

const maxBuffered = 1000
