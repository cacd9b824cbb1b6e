import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { describeExecutor } from '../executor.suite.ts'
import { createMcpExecutor } from './mcp-executor.ts'
import { schemaFor } from './server-settings.ts'

const script = fileURLToPath(new URL('../../../tests/upstreams/official-server.mjs', import.meta.url))
const definition = { command: process.execPath, args: [script] }

describeExecutor('mcp', () => {
  const servers = new Map([['up', schemaFor(definition).parse(definition)]])
  const secrets = { resolve: async (reference: string) => reference, redact: (text: string) => text }
  const executor = createMcpExecutor({ servers, env: process.env, secrets })
  afterAll(() => executor.close?.())
  const toolCalled = (tool: string) => ({ executorConfig: { server: 'up', tool } })
  return {
    executor,
    isolation: 'limited',
    echo: toolCalled('say'),
    fail: toolCalled('break'),
    failCode: 'UPSTREAM_ERROR',
    wait: toolCalled('wait'),
  }
})
