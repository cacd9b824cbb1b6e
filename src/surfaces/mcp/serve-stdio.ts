import { type Transform, Writable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio as serve } from '@modelcontextprotocol/server/stdio'
import type { Logger } from '../../base/logger.ts'
import { createMcpServer, type McpServerOptions } from './create-server.ts'
import { trackRequests } from './track-requests.ts'
import { createLineReader, findId } from './whole-lines.ts'

const maxMiB = 10
/** After the client has said its last word: how often it is looked for, and what calls get beyond their deadline. */
const draining = { lookMs: 250, graceMs: 2000 }

/** What is served on stdio, and where problems are reported. */
export interface StdioOptions extends McpServerOptions {
  readonly logger: Logger
}

/** Serves MCP on standard input and output until the client goes away or the signal is aborted. */
export async function serveStdio(options: StdioOptions, signal: AbortSignal): Promise<void> {
  const { logger, tools } = options
  const parent = process.ppid
  const servers = new Set<Server>()
  const output = claimStdout()
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
  const requests = trackRequests(transport)
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
  await untilAnswered(Promise.race([gone, requests.settled()]), () => tools.maxMs(), parent)
  process.stdin.unpipe(input).pause()
  await handle.close().catch(() => {})
}

/** Hands standard input on to its end, which the transport must not see: it would answer nothing more. */
async function feed(input: Transform): Promise<void> {
  process.stdin.pipe(input, { end: false })
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve())
  })
  input.write('\n')
  while (input.writableLength + input.readableLength > 0) await nextTurn()
  await nextTurn()
}

/** Waits for the last answers as long as the calls may take and whoever started us is there to read them. */
async function untilAnswered(answered: Promise<void>, maxMs: () => number, parent: number): Promise<void> {
  const started = performance.now()
  const done = new AbortController()
  const over = answered.then(() => done.abort())
  let longest = 0
  while (!done.signal.aborted && process.ppid === parent) {
    // The last message may have become a call only now.
    longest = Math.max(longest, maxMs())
    if (performance.now() > started + longest + draining.graceMs) return
    const look = sleep(draining.lookMs, undefined, { signal: done.signal }).catch(() => {})
    await Promise.race([over, look])
  }
}

function tooLarge(id: string | number | null) {
  const message = `The message is larger than ${maxMiB} MiB. Send less, or pass a file.`
  return { jsonrpc: '2.0', id, error: { code: ProtocolErrorCode.InvalidRequest, message } }
}

/** Takes stdout for the protocol: whatever else in this process writes to it goes to stderr instead. */
function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write
  // A client that is gone cannot be told so; the end of its input ends us.
  process.stdout.on('error', () => {})
  return new Writable({ write: (chunk: Buffer, _, done) => void write(chunk, () => done()) })
}
