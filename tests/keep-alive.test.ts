import { request } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { listenForRest } from '../src/surfaces/rest/listen.ts'
import { openRegistry } from './support/open-registry.ts'

const keepAliveOf = (url: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    // As a proxy does, which asks for a connection that it can use again.
    const asked = request(`${url}/healthz`, { headers: { connection: 'keep-alive' } }, (response) => {
      resolve(response.headers['keep-alive'])
      response.resume()
    })
    asked.on('error', reject).end()
  })

it('keeps connections open for longer than proxies do, or as long as is set', async () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  const { app, close } = await openRegistry()
  try {
    for (const [keepAliveMs, header] of [
      ['', 'timeout=75'],
      ['120000', 'timeout=120'],
    ] as const) {
      vi.stubEnv('TOOLDEX_KEEP_ALIVE_MS', keepAliveMs)
      const { server, url } = await listenForRest(app, { host: '127.0.0.1', port: 0, print: () => {} })
      try {
        expect(await keepAliveOf(url)).toBe(header)
        expect(server.headersTimeout).toBeLessThan(server.keepAliveTimeout)
      } finally {
        server.closeAllConnections()
        server.close()
      }
    }
  } finally {
    await close()
  }
})
