import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** How a line behaves: as it should, late, silent although open, or a byte a second. */
export type LineMode = 'good' | 'late' | 'half-open' | 'trickle'

/** A line between us and a server that can be made bad. */
export interface TestProxy {
  readonly port: number
  mode: LineMode
  /** Called with what a client sends before it goes on; true resets the line after handing it on, and no answer comes back. */
  resetAfter: ((chunk: Buffer) => boolean) | undefined
  /** Breaks every line that is open; new ones are made. */
  cut(): void
  stop(): Promise<void>
}

const lateMs = 5000

/** Starts a proxy to a port of this machine. */
export async function startProxy(to: number): Promise<TestProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    let cut = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => (proxy.mode === 'half-open' ? undefined : client.destroy()))
    client.on('data', (chunk) => {
      cut ||= proxy.resetAfter?.(chunk) === true
      pass(chunk, upstream)
      if (cut) setTimeout(() => client.resetAndDestroy(), 50)
    })
    upstream.on('data', (chunk) => {
      if (!client.destroyed && !cut) pass(chunk, client)
    })
  })
  const pass = (chunk: Buffer, target: Socket) => {
    if (proxy.mode === 'good') target.write(chunk)
    if (proxy.mode === 'late') setTimeout(() => target.destroyed || target.write(chunk), lateMs)
    if (proxy.mode === 'trickle') trickle(chunk, target)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: TestProxy = {
    port: (server.address() as AddressInfo).port,
    mode: 'good',
    resetAfter: undefined,
    cut() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}

function trickle(chunk: Buffer, target: Socket): void {
  let at = 0
  const timer = setInterval(() => {
    if (target.destroyed || at >= chunk.length) clearInterval(timer)
    else target.write(chunk.subarray(at, ++at))
  }, 1000)
}
