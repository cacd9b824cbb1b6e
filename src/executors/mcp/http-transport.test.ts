import { getEventListeners, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { Agent } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { guardedFetch } from './guarded-fetch.ts'
import { HttpTransport } from './http-transport.ts'
import { defaultMessageLimits, MessageCheck } from './message-check.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

async function listen(handle: Handle): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const headers = { authorization: 'Bearer t-1', 'x-api-key': 'k-1' }
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const

function open(url: string): HttpTransport {
  const line = new HttpTransport(
    { url: new URL(url), headers, allowPrivate: true },
    new MessageCheck(defaultMessageLimits, () => {}),
  )
  onTestFinished(() => line.close())
  return line
}

describe('a redirect of an MCP server', () => {
  it.each([301, 302, 307, 308])('%i to another host is refused, and nothing is sent there', async (status) => {
    const received: IncomingMessage[] = []
    const other = await listen((request, response) => {
      received.push(request)
      response.end()
    })
    const line = open(await listen((_request, response) => response.writeHead(status, { location: other }).end()))
    await line.start()
    await expect(line.send(ping)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
    expect(received).toEqual([])
  })

  it('to another private host is refused for a request without a body too', async () => {
    const received: IncomingMessage[] = []
    const other = await listen((request, response) => {
      received.push(request)
      response.end()
    })
    const url = await listen((request, response) => {
      if (request.method === 'POST') return void response.writeHead(202, { 'mcp-session-id': 's-1' }).end()
      response.writeHead(302, { location: other.replace('127.0.0.1', 'localhost') }).end()
    })
    const line = open(url)
    await line.start()
    await line.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    // Ends the session with a DELETE.
    await line.close()
    expect(received).toEqual([])
  })

  it('within one host keeps headers and body', async () => {
    const received: (string | undefined)[] = []
    const url = await listen(async (request, response) => {
      if (request.url === '/mcp') return void response.writeHead(307, { location: '/new' }).end()
      let body = ''
      for await (const part of request) body += part
      received.push(request.headers['x-api-key'] as string, JSON.parse(body).method)
      response.writeHead(202).end()
    })
    const line = open(`${url}/mcp`)
    await line.start()
    await line.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect(received).toEqual(['k-1', 'notifications/initialized'])
  })
})

describe('a response of an MCP server', () => {
  const result = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'é'.repeat(1000) } })
  const encodings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, identity: Buffer.from }

  it.each(Object.entries(encodings))('is read with the encoding %s, as JSON and as events', async (name, encode) => {
    const url = await listen((request, response) => {
      const isEvent = request.url === '/events'
      const type = isEvent ? 'text/event-stream' : 'application/json'
      response.writeHead(200, { 'content-type': type, 'content-encoding': name })
      response.end(encode(Buffer.from(isEvent ? `data: ${result}\n\n` : result)))
    })
    for (const path of ['/json', '/events']) {
      const line = open(url + path)
      const received = new Promise((resolve) => {
        line.onmessage = resolve
      })
      await line.start()
      await line.send(ping)
      expect(await received).toEqual(JSON.parse(result))
    }
  })

  it('that is cancelled while more of it arrives ends quietly', async () => {
    const event = `data: ${result}\n\n`
    const url = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event)
      response.end(event.repeat(100))
    })
    const agent = new Agent()
    onTestFinished(() => agent.close())
    const bounds = { maxBytes: 1e6, reduce: async () => undefined, onEvents: () => {} }
    const fetch = guardedFetch(agent, '127.0.0.1', bounds)
    const { signal } = new AbortController()
    const warned: Error[] = []
    process.on('warning', (warning) => warned.push(warning))
    const all = await Promise.all(Array.from({ length: 20 }, () => fetch(url, { signal })))
    for (const { body } of all) await body?.cancel()
    await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([])
    expect(warned).toEqual([])
  })

  it('with an unknown encoding, or that does not match it, is an error of the request', async () => {
    const url = await listen((request, response) => {
      const encoding = request.url === '/unknown' ? 'zzz' : 'gzip'
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding }).end(result)
    })
    for (const [path, message] of [
      ['/unknown', /unsupported content encoding \(zzz\)/],
      ['/plain', /header/],
    ] as const) {
      const line = open(url + path)
      await line.start()
      await expect(line.send(ping)).rejects.toThrow(message)
    }
  })
})
