import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { RunControls, RunnableTool } from '../../src/contract/executor.ts'
import type { McpServer } from '../../src/contract/mcp-server.ts'
import { createMcpExecutor, type McpExecutorOptions } from '../../src/executors/mcp/mcp-executor.ts'
import { schemaFor } from '../../src/executors/mcp/server-settings.ts'
import { redactValues } from '../../src/secrets/redact-values.ts'
import { projectRoot } from '../support/run-cli.ts'

const script = (name: string) => join(projectRoot, 'tests', 'upstreams', name)

/** A definition of a server of tests, spoken to over stdio. */
export const stdioServer = (name: string, args: readonly string[] = [], more: object = {}) => ({
  command: process.execPath,
  args: [script(name), ...args],
  ...more,
})

/** Everything that was started is gone when the test is over. */
export function startExecutor(
  definitions: Readonly<Record<string, unknown>>,
  options: Partial<McpExecutorOptions> = {},
) {
  const servers = new Map<string, McpServer>(
    Object.entries(definitions).map(([name, each]) => [name, schemaFor(each).parse(each)]),
  )
  const executor = createMcpExecutor({
    servers,
    env: process.env,
    secrets: { resolve: async (reference) => `value-of-${reference}`, redact: redactValues(4).redact },
    ...options,
  })
  onTestFinished(() => executor.close?.())
  const call = (server: string, tool: string, input = {}, timeoutMs = 150_000, controls: RunControls = {}) =>
    executor.prepare({ tool: toolOf(server, tool), input, timeoutMs }).run(controls)
  return { executor, call, pidOf: (server: string) => executor.upstreams.of(server)?.connection?.pid ?? null }
}

/** A registered tool that is one of an upstream. */
export const toolOf = (server: string, tool: string, more: Partial<RunnableTool> = {}): RunnableTool => ({
  name: tool,
  id: null,
  version: null,
  executorType: 'mcp',
  executorConfig: { server, tool },
  scriptContent: null,
  inputSchema: {},
  outputSchema: {},
  annotations: {},
  constraints: [],
  ...more,
})

/** Starts the official server over HTTP; gives its address and what it wrote to stderr. */
export async function startHttp(revisions: 'both' | 'older') {
  const child: ChildProcess = spawn(process.execPath, [script('official-server.mjs'), 'http', revisions], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  const [port] = await once(child.stdout as Readable, 'data')
  const url = `http://127.0.0.1:${String(port).trim()}/mcp`
  return { url, said: () => said, kill: () => child.kill('SIGKILL') }
}
