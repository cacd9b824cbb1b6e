import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Address, HostAddress, Tls } from './read-address.ts'
import { DatabaseSocket, socketError } from './socket.ts'

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Timeouts in milliseconds. */
interface SocketTimeouts {
  readonly connectMs: number
  readonly answerMs: number
}

/** Connects to the first reachable host; failures are emitted on the returned socket. */
export function connectSocket(
  { places, tls }: Pick<Address, 'places' | 'tls'>,
  { connectMs, answerMs }: SocketTimeouts,
): DatabaseSocket {
  const line = new DatabaseSocket(answerMs)
  const closing = new AbortController()
  line.once('close', () => closing.abort())
  reach({ places, tls, eachMs: connectMs / places.length, signal: closing.signal }).then(
    (socket) => line.attach(socket),
    (error: Error) => line.lose(error),
  )
  return line
}

interface Reach extends Pick<Address, 'places' | 'tls'> {
  readonly eachMs: number
  readonly signal: AbortSignal
}

async function reach({ places, tls, eachMs, signal }: Reach): Promise<Socket> {
  let failure: unknown
  for (const host of places) {
    try {
      return await reachPlace(host, tls, AbortSignal.any([signal, AbortSignal.timeout(eachMs)]))
    } catch (error) {
      failure = error
    }
    if (signal.aborted) break
  }
  throw failure
}

async function reachPlace(host: HostAddress, tls: Tls | undefined, signal: AbortSignal): Promise<Socket> {
  const socket = 'path' in host ? connect(host.path) : connect(host.port, host.host)
  // `nextEvent` rejects on errors; between two calls an error without a listener would end the process.
  socket.on('error', () => {})
  const giveUp = () => socket.destroy(socketError('ETIMEDOUT', 'the server did not respond in time'))
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    await nextEvent(socket, 'connect')
    socket.setNoDelay(true)
    // A local socket cannot be intercepted on the network.
    return tls === undefined || 'path' in host ? socket : await secure(socket, host.host, tls)
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Requests TLS, and continues without it only where sslmode makes it optional. */
async function secure(socket: Socket, host: string, { optional, checked, named, ca }: Tls): Promise<Socket> {
  socket.write(sslRequest)
  const [response] = (await nextEvent(socket, 'data')) as Buffer
  if (response !== 'S'.charCodeAt(0)) {
    if (optional) return socket
    throw socketError('TLS_REFUSED', 'the server does not offer TLS')
  }
  const secured = connectTls({
    socket,
    rejectUnauthorized: checked,
    ...(isIP(host) ? { host } : { servername: host }),
    ...(ca === undefined ? {} : { ca }),
    ...(named ? {} : { checkServerIdentity: () => undefined }),
  })
  secured.on('error', () => {})
  await nextEvent(secured, 'secureConnect').catch((error: Error) => {
    throw socketError('TLS_REFUSED', error.message)
  })
  return secured
}

function nextEvent(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(socketError('CONNECTION_CLOSED', 'the server closed the connection')))
  })
}
