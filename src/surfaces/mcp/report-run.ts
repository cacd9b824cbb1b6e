import type { ServerContext } from '@modelcontextprotocol/server'

/** Reports the bytes of output to a client that requested progress; the number only grows. */
export function progressReporter({ mcpReq }: ServerContext): ((bytes: number) => void) | undefined {
  const token = mcpReq._meta?.progressToken
  if (token === undefined) return undefined
  let last = -1
  return (bytes) => {
    const progress = Math.max(bytes, last + 1)
    last = progress
    const params = { progressToken: token, progress, message: `${bytes} bytes of output so far` }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}

// A tool that prints without end must not flood its client.
const maxMessages = 200
const maxCharacters = 4000

/** Sends standard error of a running tool as log messages, to a client that requested them. */
export function logReporter({ mcpReq }: ServerContext, logger: string): (text: string) => void {
  let sent = 0
  return (text) => {
    if (sent >= maxMessages || text.trim() === '') return
    sent++
    mcpReq.log('info', text.trim().slice(0, maxCharacters), logger).catch(() => {})
  }
}
