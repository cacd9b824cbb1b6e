import { LOG_LEVEL_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import { type LogMessage, type MessageLevel, messageLevels } from '../../contract/executor.ts'
import { showHiddenInResult } from '../../rules/suspicious-result.ts'

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

/** The log of one call, as far as its client wants it. */
export interface LogReporter {
  /** The least severe messages that the client wants. */
  readonly level: MessageLevel | undefined
  send(text: string, message?: LogMessage): void
}

interface LogSettings {
  readonly logger: string
  /** The level that a client of the older revisions has set; without one it receives everything. */
  readonly sessionLevel: MessageLevel | undefined
}

/** Sends log messages of an upstream and standard error of a running tool to a client that requested them. */
export function logReporter({ mcpReq }: ServerContext, { logger, sessionLevel }: LogSettings): LogReporter {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  const level = envelope === undefined ? sessionLevel : (envelope[LOG_LEVEL_META_KEY] as MessageLevel | undefined)
  const isWanted = (each: MessageLevel) =>
    level === undefined ? envelope === undefined : messageLevels.indexOf(each) >= messageLevels.indexOf(level)
  let sent = 0
  const notify = (message: LogMessage) => {
    if (sent >= maxMessages || !isWanted(message.level)) return
    sent++
    mcpReq.notify({ method: 'notifications/message', params: { ...message } }).catch(() => {})
  }
  return {
    level,
    send(text, message) {
      if (message !== undefined) notify({ ...message, data: boundedData(showHiddenInResult(message.data)) })
      else if (text.trim() !== '') notify({ level: 'info', data: text.trim().slice(0, maxCharacters), logger })
    },
  }
}

/** Data of a message of which the text would be too long is cut to a text. */
function boundedData(data: unknown): unknown {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? 'null')
  return text.length <= maxCharacters ? data : `${text.slice(0, maxCharacters)}…`
}
