import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { needs } from './support/needs.ts'
import { projectRoot } from './support/run-cli.ts'
import { hasOpsTools, opsToolsFile } from './support/shared-data.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFile } from './support/temp-folder.ts'
import { operationsCalls, startStandIns } from './upstreams/operations-services.ts'

const tokens = { k8s: 'token-of-the-cluster', aws: 'token-of-the-account' }
const onOpsTools = needs(hasOpsTools, 'needs the nineteen operations tools beside the checkout')

interface ListedTool {
  readonly name: string
  readonly display_name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly input_schema: object
  readonly output_schema: object
  readonly category: string
}

/** A `tooldex serve` with the stand-ins behind it. */
async function start() {
  const standIns = await startStandIns(tokens)
  onTestFinished(standIns.stop)
  const script = join(projectRoot, 'tests', 'upstreams', 'operations-server.mjs')
  const env = { K8S_URL: `${standIns.url}/k8s`, K8S_TOKEN: 'env:K8S_TOKEN' }
  const definition = { command: process.execPath, args: [script], env }
  const servers = tempFile('servers.json', JSON.stringify({ mcpServers: { operations: definition } }))
  const server = await startServer({
    env: { K8S_TOKEN: tokens.k8s, TOOLDEX_SECRET_KEY: 'a key to seal secrets with' },
    words: ['--mcp-servers', servers],
  })
  onTestFinished(() => server.stop())
  expect((await server.request('PUT', '/secrets/aws', { body: { value: tokens.aws } })).status).toBe(200)
  return { server, standIns }
}

/** The category of that name, made where there is none yet. */
async function categoryOf(server: TestServer, name: string): Promise<string> {
  const known = await server.request('GET', `/categories/${name}`)
  const { body } = known.status === 200 ? known : await server.request('POST', '/categories', { body: { name } })
  return body.id
}

async function register(server: TestServer, tool: ListedTool, call: ReturnType<typeof operationsCalls>[string]) {
  const { executorType, executorConfig } = call
  const body = {
    name: tool.name,
    displayName: tool.display_name,
    description: tool.description,
    tags: tool.tags,
    inputSchema: tool.input_schema,
    outputSchema: tool.output_schema,
    executorType,
    executorConfig,
    categoryId: await categoryOf(server, tool.category),
  }
  const made = await server.request('POST', '/tools', { body })
  expect(made.status, made.text).toBe(201)
  const verdict = await server.request('POST', `/tools/${tool.name}/validate`)
  expect(verdict.body.valid, verdict.text).toBe(true)
  expect((await server.request('POST', `/tools/${tool.name}/activate`)).body.status).toBe('ACTIVE')
}

describe('the nineteen operations tools', () => {
  onOpsTools(
    'are registered, validated, dry-run, called against stand-ins of their services, and inspected',
    async () => {
      const tools: readonly ListedTool[] = JSON.parse(readFileSync(opsToolsFile, 'utf8'))
      const { server, standIns } = await start()
      const calls = operationsCalls(standIns.url)
      expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(calls).sort())
      expect(tools).toHaveLength(19)
      for (const tool of tools) await register(server, tool, calls[tool.name] as (typeof calls)[string])
      expect(standIns.asked).toEqual([])
      for (const [name, { input, executorType }] of Object.entries(calls)) {
        const dry = await server.request('POST', `/tools/${name}/execute`, { body: { input, dryRun: true } })
        expect(dry.body, `${name} ${dry.text}`).toMatchObject({ dryRun: true, plan: { kind: executorType } })
      }
      expect(standIns.asked).toEqual([])
      for (const [name, { input, has }] of Object.entries(calls)) {
        const ran = await server.request('POST', `/tools/${name}/execute`, { body: { input, wait: true } })
        expect(ran.body, `${name} ${ran.text}`).toMatchObject({ status: 'SUCCESS', outputData: has })
        const kept = await server.request('GET', `/executions/${ran.body.id}`)
        expect(kept.body).toMatchObject({ toolName: name, version: 1, status: 'SUCCESS', outputData: has, attempt: 1 })
        for (const token of Object.values(tokens)) expect(kept.text).not.toContain(token)
      }
      const ofJava = await server.request('GET', '/tools?category=java')
      expect(ofJava.body.items).toHaveLength(4)
      expect((await server.request('GET', '/executions?limit=100')).body.items).toHaveLength(19)
      expect(standIns.asked.filter((line) => line.startsWith('PATCH'))).toHaveLength(1)
      expect(standIns.asked.length).toBe(16)
    },
    180_000,
  )
})
