import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { mainFile } from '../support/run-cli.ts'

type Message = Readonly<Record<string, unknown>>

/** `tooldex run` spoken to by hand: what it writes is seen to the last byte, and it can be told anything. */
export class RawServer {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<{ code: number | null; signal: string | null }>
  stdout = ''
  stderr = ''

  constructor(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [mainFile, 'run', ...words], { env: { ...process.env, ...env } })
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }))
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    // A server that has ended cannot be told anything more.
    this.child.stdin.on('error', () => {})
    onTestFinished(() => {
      this.child.kill('SIGKILL')
    })
  }

  get lines(): readonly string[] {
    return this.stdout.split('\n').filter((line) => line !== '')
  }

  send(message: Message): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  /** Sends a request and waits for the line that answers it. */
  async request(id: number, method: string, params: Message): Promise<Message> {
    this.send({ id, method, params })
    for (;;) {
      const answer = this.lines.map(parse).find((message) => message.id === id)
      if (answer !== undefined) return answer
      if (this.child.exitCode !== null) throw new Error(`the server ended: ${this.stderr}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: 'by hand', version: '1' }
    await this.request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    this.send({ method: 'notifications/initialized' })
  }

  callTool(id: number, name: string): Promise<Message> {
    return this.request(id, 'tools/call', { name: 'call_tool', arguments: { name } })
  }
}

/** A line of the protocol; anything else throws. */
function parse(line: string): Message {
  const message = JSON.parse(line) as Message
  if (message.jsonrpc !== '2.0') throw new Error(`not a frame: ${line.slice(0, 200)}`)
  return message
}
