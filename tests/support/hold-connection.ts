import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { TestServer } from './start-server.ts'

/** A connection that has sent this much and waits; it goes with the test. */
export function holdConnection(to: TestServer, text: string): Socket {
  const socket = connect(Number(new URL(to.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  onTestFinished(() => void socket.destroy())
  return socket
}
