import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Address, HostAddress, Tls } from './read-address.ts'
import { DatabaseSocket, socketError } from './socket.ts'

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** How long things may take, in milliseconds. */
interface LineLimits {
  readonly connectMs: number
  readonly answerMs: number
}

/** Starts a line to the first place that can be reached; what goes wrong on the way is said on the line. */
export function connectSocket(
  { places, tls }: Pick<Address, 'places' | 'tls'>,
  { connectMs, answerMs }: LineLimits,
): DatabaseSocket {
  const line = new DatabaseSocket(answerMs)
  const given = new AbortController()
  line.once('close', () => given.abort())
  reach({ places, tls, eachMs: connectMs / places.length, signal: given.signal }).then(
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
  for (const place of places) {
    try {
      return await reachPlace(place, tls, AbortSignal.any([signal, AbortSignal.timeout(eachMs)]))
    } catch (error) {
      failure = error
    }
    if (signal.aborted) break
  }
  throw failure
}

async function reachPlace(place: HostAddress, tls: Tls | undefined, signal: AbortSignal): Promise<Socket> {
  const socket = 'path' in place ? connect(place.path) : connect(place.port, place.host)
  // Whoever waits for it hears of it; between two who wait nobody would.
  socket.on('error', () => {})
  const giveUp = () => socket.destroy(socketError('ETIMEDOUT', 'the server took too long to answer'))
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    await heard(socket, 'connect')
    socket.setNoDelay(true)
    // Nobody listens on a socket of this machine.
    return tls === undefined || 'path' in place ? socket : await secure(socket, place.host, tls)
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Asks the server for TLS, and goes on without it only where the URL says that it is merely preferred. */
async function secure(socket: Socket, host: string, { optional, checked, named, ca }: Tls): Promise<Socket> {
  socket.write(sslRequest)
  const [answer] = (await heard(socket, 'data')) as Buffer
  if (answer !== 'S'.charCodeAt(0)) {
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
  await heard(secured, 'secureConnect').catch((error: Error) => {
    throw socketError('TLS_REFUSED', error.message)
  })
  return secured
}

function heard(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(socketError('CONNECTION_CLOSED', 'the server closed the connection')))
  })
}
