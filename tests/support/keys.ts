import { expect } from 'vitest'
import type { TestServer } from './start-server.ts'

/** Makes a key with these scopes; gives its secret. */
export async function makeKey(server: TestServer, name: string, scopes: readonly string[]): Promise<string> {
  const { status, body, text } = await server.request('POST', '/keys', { body: { name, scopes } })
  expect(status, text).toBe(201)
  return body.secret
}

/** Puts policies in force beside the tools that there are. */
export async function putPolicies(server: TestServer, policies: readonly object[]): Promise<void> {
  const { status, text } = await server.request('POST', '/bundle', { body: { bundle: { tooldex: 1, policies } } })
  expect(status, text).toBe(200)
}

/** Repeats a request until its result fits: a change reaches search and other replicas a moment later. */
export async function eventually<Result>(ask: () => Promise<Result>, fits: (result: Result) => boolean) {
  for (const until = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const result = await ask()
    if (fits(result) || Date.now() > until) return result
  }
}
