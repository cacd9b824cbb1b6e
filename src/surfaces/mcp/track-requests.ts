import type { RequestId, Transport } from '@modelcontextprotocol/server'

// Its response is sent only when the subscription ends.
const withoutEnd = 'subscriptions/listen'

/** Tracks the pending requests of a client; call it after the transport has its message handler. */
export function trackRequests(transport: Transport): { settled(): Promise<void> } {
  const open = new Set<RequestId>()
  let onSettled = (): void => {}
  const settle = (id: RequestId): void => {
    open.delete(id)
    if (open.size === 0) onSettled()
  }
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message && message.method !== withoutEnd) open.add(message.id)
    // Cancelled requests get no response.
    if ('method' in message && message.method === 'notifications/cancelled')
      settle((message.params as { requestId?: RequestId } | undefined)?.requestId ?? '')
    onmessage?.(message, extra)
  }
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    try {
      await send(message, options)
    } finally {
      if (!('method' in message) && message.id !== undefined) settle(message.id)
    }
  }
  return {
    settled: () =>
      new Promise((resolve) => {
        onSettled = resolve
        if (open.size === 0) resolve()
      }),
  }
}
