import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import { needs } from '../../../tests/support/needs.ts'
import { tempFile, tempFolder } from '../../../tests/support/temp-folder.ts'
import { redactValues } from '../../secrets/redact-values.ts'
import { describeExecutor, toolOf } from '../executor.suite.ts'
import { Shield } from '../sandbox/shield.ts'
import { createMcpExecutor } from './mcp-executor.ts'
import { schemaFor } from './server-settings.ts'

const script = fileURLToPath(new URL('../../../tests/upstreams/official-server.mjs', import.meta.url))
const definition = { command: process.execPath, args: [script] }

describeExecutor('mcp', () => {
  const servers = new Map([['up', schemaFor(definition).parse(definition)]])
  const secrets = { resolve: async (reference: string) => reference, redact: redactValues(4).redact }
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

const probed = await new Shield({ env: process.env, hidden: '.' }).selfTest.run()
const itShielded = needs('made' in probed, 'needs Landlock and Python')

itShielded('hides the files and the memory of the server from the programs that it starts', async () => {
  const hidden = tempFolder()
  const shield = new Shield({ env: process.env, hidden })
  const [secret, open] = [tempFile('secret.key', 'secret', hidden), tempFile('open.txt', 'open')]
  const servers = new Map([['up', schemaFor(definition).parse(definition)]])
  const secrets = { resolve: async (reference: string) => reference, redact: redactValues(4).redact }
  const executor = createMcpExecutor({ servers, env: process.env, secrets, shield })
  const tool = toolOf('mcp', { executorConfig: { server: 'up', tool: 'read' } })
  const read = async (text: string) => (await executor.prepare({ tool, input: { text } }).run({})).output
  try {
    expect(JSON.stringify(await read(open))).toContain('open')
    for (const path of [secret, `/proc/${process.pid}/maps`])
      expect(JSON.stringify(await read(path))).toMatch(/EACCES|EPERM/)
  } finally {
    await executor.close?.()
  }
})
