import { expect } from 'vitest'
import type { TestAnswer, TestServer } from './start-server.ts'

const fields = ['type', 'title', 'status', 'detail', 'code', 'hint', 'retryable', 'errors', 'requestId'] as const

/** Checks that an answer is a refusal of this status in the one documented shape, and tells nothing it should not. */
export function expectProblem(answer: TestAnswer, status: number | readonly number[], code?: string): void {
  expect([status].flat(), answer.text.slice(0, 500)).toContain(answer.status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(Object.keys(answer.body).sort()).toEqual([...fields].sort())
  expect(answer.body.status).toBe(answer.status)
  if (code !== undefined) expect(answer.body.code).toBe(code)
  expect(answer.text).not.toMatch(/\bat .+\.[jt]s:\d+|node_modules|select .+ from|Failed query/)
}

/** A tool that can be registered as it is. */
export const draft = (name: string, more: object = {}): Record<string, unknown> => ({
  name,
  displayName: `Tool ${name}`,
  description: 'Does one thing.',
  executorType: 'http',
  inputSchema: { type: 'object' },
  executorConfig: { method: 'GET', url: 'https://example.com/' },
  ...more,
})

/** Registers a tool and gives what was answered. */
export async function register(server: Pick<TestServer, 'request'>, name: string, more: object = {}) {
  const answer = await server.request('POST', '/tools', { body: draft(name, more) })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}
