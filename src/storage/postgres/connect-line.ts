import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Line, lineError } from './line.ts'

/** Where the server is, as the driver reads it from the URL. */
export interface Place {
  readonly host: string
  readonly port: number
  readonly path?: string | undefined
  /** False, a word such as `require` or `verify-full`, or options of a TLS connection. */
  readonly ssl: unknown
}

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Starts a line to the server; what goes wrong on the way is said on the line. */
export function connectLine(place: Place, answerMs: number): Line {
  const line = new Line(answerMs)
  const socket = place.path ? connect(place.path) : connect(place.port, place.host)
  socket.setNoDelay(true)
  const fail = (error: Error) => line.lose(error)
  socket.on('error', fail)
  if (!place.ssl) line.attach(socket)
  else
    secure(socket, place).then(
      (ready) => line.attach(ready),
      (error: Error) => {
        fail(error)
        socket.destroy()
      },
    )
  return line
}

/** Asks the server for TLS, and goes on without it only where the URL says that it is merely preferred. */
async function secure(socket: Socket, { host, ssl }: Place): Promise<Socket> {
  socket.write(sslRequest)
  const [answer] = await new Promise<Buffer>((resolve, reject) => {
    socket.once('data', resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(lineError('CONNECTION_CLOSED', 'the server closed the connection')))
  })
  if (answer !== 'S'.charCodeAt(0)) {
    if (ssl === 'prefer' || ssl === 'allow') return socket
    throw lineError('08001', 'the server does not offer TLS')
  }
  const unchecked = ssl === 'require' || ssl === 'allow' || ssl === 'prefer'
  const secured = connectTls({
    socket,
    ...(isIP(host) ? {} : { servername: host }),
    ...(unchecked ? { rejectUnauthorized: false } : {}),
    ...(typeof ssl === 'object' ? ssl : {}),
  })
  await new Promise((resolve, reject) => secured.once('secureConnect', resolve as () => void).once('error', reject))
  return secured
}
