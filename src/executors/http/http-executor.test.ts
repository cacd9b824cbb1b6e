import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'
import { describeExecutor } from '../executor.suite.ts'
import { createHttpExecutor } from './http-executor.ts'

describeExecutor('http', () => {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://here')
    if (pathname === '/wait') return
    if (pathname === '/fail') response.statusCode = 500
    const answers: Record<string, string> = {
      '/echo': searchParams.get('text') ?? '',
      '/fail': 'it went wrong',
      '/greet': String(request.headers['x-greeting']),
    }
    response.end(answers[pathname])
  })
  server.listen(0)
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const request = (path: string, more: object = {}) => ({
    executorConfig: { method: 'GET', url: `${url}${path}`, allowPrivate: true, ...more },
  })
  return {
    executor: createHttpExecutor(),
    isolation: 'none',
    echo: request('/echo', { query: { text: '{text}' } }),
    fail: request('/fail'),
    failCode: 'HTTP_ERROR',
    wait: request('/wait'),
    speaks: false,
    greet: request('/greet', { auth: { type: 'header', name: 'x-greeting', secret: 'secret:greeting' } }),
  }
})
