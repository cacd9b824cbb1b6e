import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { onTestFinished } from 'vitest'
import { mainFile } from './run-cli.ts'

/** The two protocol revisions that are served. */
export const revisions = ['2026-07-28', '2025-11-25'] as const
export type Revision = (typeof revisions)[number]

interface Connection {
  readonly client: Client
  readonly transport: StdioClientTransport
  /** What the server wrote to stderr so far. */
  stderr(): string
}

/** Starts `tooldex run` with these words and connects the official client to it; both end with the test. */
export async function connect(words: readonly string[], options: ConnectOptions = {}): Promise<Connection> {
  const connection = await openConnection(words, options)
  onTestFinished(() => connection.client.close())
  return connection
}

/** The same for several tests; closing the client ends the process. */
export async function openConnection(words: readonly string[], options: ConnectOptions = {}): Promise<Connection> {
  const { revision = '2026-07-28', cwd, env = {} } = options
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [mainFile, 'run', ...words],
    env: { ...(process.env as Record<string, string>), ...env },
    stderr: 'pipe',
    ...(cwd === undefined ? {} : { cwd }),
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const negotiation = revision === '2026-07-28' ? { versionNegotiation: { mode: 'auto' as const } } : {}
  const client = new Client({ name: 'test', version: '1.0.0' }, negotiation)
  await client.connect(transport).catch(async (error) => {
    await client.close()
    throw error
  })
  return { client, transport, stderr: () => stderr }
}

interface ConnectOptions {
  readonly revision?: Revision
  readonly cwd?: string
  readonly env?: Record<string, string>
}
