import type { RequestId, Transport } from '@modelcontextprotocol/server'

// It is answered when the client no longer listens.
const withoutEnd = 'subscriptions/listen'

/** Follows what a client has asked for and not been answered; call it when the transport has its receiver. */
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
    // Nobody waits for the answer to what was cancelled, and none is given.
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
