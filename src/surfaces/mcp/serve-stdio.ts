import { Transform, Writable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { ProtocolErrorCode, type RequestId, type Server, type Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio as serve } from '@modelcontextprotocol/server/stdio'
import { hasLarge, quoteLargeNumbers } from '../../base/exact-numbers.ts'
import { LineSplitter } from '../../base/line-splitter.ts'
import type { Logger } from '../../base/logger.ts'
import { maxWatched, subscribedUris, watchResources } from './change-streams.ts'
import { createMcpServer, type McpServerOptions } from './create-server.ts'

const maxMiB = 10
/** After the end of input: the interval of checks for the parent, and the grace period of calls after their deadline. */
const draining = { checkMs: 250, graceMs: 30_000 }

/** Options of the stdio server. */
interface StdioOptions extends McpServerOptions {
  readonly logger: Logger
}

/** Serves MCP on standard input and output until the client disconnects or the signal is aborted. */
export async function serveStdio(options: StdioOptions, signal: AbortSignal): Promise<void> {
  const { logger, tools } = options
  const parent = process.ppid
  const servers = new Set<Server>()
  const output = claimStdout()
  const ending = new AbortController()
  const input = createLineReader(maxMiB * 1024 * 1024, (head, tail) => {
    logger.warn(`protocol: a message of more than ${maxMiB} MiB was dropped`)
    output.write(`${JSON.stringify(tooLarge(findId(head, tail)))}\n`)
  })
  const transport = new StdioServerTransport(input, output)
  const factory = (): Server => {
    const server = createMcpServer(options)
    servers.add(server)
    server.onclose = () => servers.delete(server)
    return server
  }
  const handle = serve(factory, { transport, onerror: (error) => logger.warn(`protocol: ${error.message}`) })
  const requests = trackRequests(transport, (uris) => {
    const onUpdated = (uri: string) => {
      for (const server of servers) server.sendResourceUpdated({ uri }).catch(() => {})
    }
    watchResources(tools, uris, onUpdated, ending.signal)
  })
  tools.onChange(() => {
    for (const server of servers) server.sendToolListChanged().catch(() => {})
  })
  const gone = new Promise<void>((resolve) => {
    const { onclose } = transport
    transport.onclose = () => {
      onclose?.()
      resolve()
    }
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([gone, feed(input)])
  await untilSettled(Promise.race([gone, requests.settled()]), () => tools.maxMs(), parent)
  ending.abort()
  process.stdin.unpipe(input).pause()
  await handle.close().catch(() => {})
}

/** Forwards standard input except its end: on the end the transport would stop responding. */
async function feed(input: Transform): Promise<void> {
  process.stdin.pipe(input, { end: false })
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve())
  })
  input.write('\n')
  while (input.writableLength + input.readableLength > 0) await nextTurn()
  await nextTurn()
}

/** Waits for the last responses within the time limits of the calls and while the parent process lives. */
async function untilSettled(settled: Promise<void>, maxMs: () => number, parent: number): Promise<void> {
  const started = performance.now()
  const done = new AbortController()
  const over = settled.then(() => done.abort())
  let limitMs = 0
  while (!done.signal.aborted && process.ppid === parent) {
    // The last message may have become a call only now.
    limitMs = Math.max(limitMs, maxMs())
    if (performance.now() > started + limitMs + draining.graceMs) return
    const nextCheck = sleep(draining.checkMs, undefined, { signal: done.signal }).catch(() => {})
    await Promise.race([over, nextCheck])
  }
}

function tooLarge(id: string | number | null) {
  const message = `The message is larger than ${maxMiB} MiB. Send a smaller message, or pass a file.`
  return { jsonrpc: '2.0', id, error: { code: ProtocolErrorCode.InvalidRequest, message } }
}

/** Reserves stdout for the protocol: other writes of this process go to stderr. */
function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write
  // Write errors of a disconnected client are ignored; the end of its input stops the server.
  process.stdout.on('error', () => {})
  return new Writable({ write: (chunk: Buffer, _, done) => void write(chunk, () => done()) })
}

// Its response is sent only when the subscription ends.
const withoutEnd = 'subscriptions/listen'

/** Tracks the pending requests and the subscriptions of a client; call it after the transport has its message handler. */
function trackRequests(
  transport: Transport,
  onSubscribed: (uris: readonly string[]) => void,
): { settled(): Promise<void> } {
  const watched = new Set<string>()
  const open = new Set<RequestId>()
  let onSettled = (): void => {}
  const settle = (id: RequestId): void => {
    open.delete(id)
    if (open.size === 0) onSettled()
  }
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message && message.method !== withoutEnd) open.add(message.id)
    const fresh = subscribedUris(message).filter((uri) => !watched.has(uri) && watched.size < maxWatched)
    for (const uri of fresh) watched.add(uri)
    onSubscribed(fresh)
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

/** Forwards whole lines; a line over the limit is dropped while it arrives, and its two ends are reported at its end. */
export function createLineReader(maxBytes: number, onTooLong: (head: string, tail: string) => void): Transform {
  const lines = new LineSplitter({
    maxBytes,
    onLine: (line) => void output.push(Buffer.concat([exactLine(line), newline])),
    onDropped: (head, tail) => onTooLong(head.toString(), tail.toString()),
  })
  const output = new Transform({
    transform(chunk: Buffer, _, done) {
      lines.push(chunk)
      done()
    },
  })
  return output
}

const newline = Buffer.from('\n')

/** Quotes numbers that JSON.parse would round. */
function exactLine(line: Buffer): Buffer {
  return hasLarge(line.toString('latin1')) ? Buffer.from(quoteLargeNumbers(line.toString('utf8'))) : line
}

const idPattern = '"id"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*"|-?\\d+)'
// Before its parameters a message has only short strings; the last brace of a line closes the outermost object.
const inHead = new RegExp(`^\\s*\\{\\s*(?:"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*,\\s*)*${idPattern}\\s*,`)
const inTail = new RegExp(`${idPattern}\\s*(?:,\\s*"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*)*\\}\\s*$`)

/** Finds the id of a message in its two ends. */
export function findId(head: string, tail: string): string | number | null {
  const idText = (inHead.exec(head) ?? inTail.exec(tail))?.[1]
  try {
    return idText === undefined ? null : (JSON.parse(idText) as string | number)
  } catch {
    return null
  }
}
