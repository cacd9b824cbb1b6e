// What every benchmark shares: a raw stdio MCP peer, medians, and tables.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export const percentile = (times, share) => [...times].sort((a, b) => a - b)[Math.floor((times.length - 1) * share)]
export const median = (times) => percentile(times, 0.5)
export const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`
export const us = (value) => `${(value * 1000).toFixed(1)} µs`

/** Looks until nothing is thrown, and gives what was found. */
export async function eventually(look, forMs = 60_000) {
  for (const end = Date.now() + forMs; ; ) {
    try {
      return await look()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** A markdown table. */
export function table(header, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Starts a stdio server and speaks JSON-RPC to it with nothing in between that could cost time. */
export class RawPeer {
  #waiting = new Map()
  #id = 0

  constructor(args, env = {}) {
    this.child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, ...env } })
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line)
      this.#waiting.get(message.id)?.(message)
      this.#waiting.delete(message.id)
    })
  }

  request(method, params = {}) {
    const id = ++this.#id
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  async open() {
    const clientInfo = { name: 'benchmark', version: '1.0.0' }
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  }

  close() {
    this.child.stdin.end()
    return new Promise((resolve) => this.child.once('close', resolve))
  }
}
