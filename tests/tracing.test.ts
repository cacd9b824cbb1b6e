import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseTraceHeader } from '../src/contract/telemetry.ts'
import { connect } from './support/connect.ts'
import { type ServerHere, serveHere, workHere } from './support/serve-here.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'
import { tempFile } from './support/temp-folder.ts'

const config = `name: traced
command: printenv
tools:
  - {name: show_trace, description: Print what a child is told of the trace, command: TRACEPARENT, args: [{name: more, positional: true}]}
`
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const given = `00-${traceId}-00f067aa0ba902b7-01`
const exporter = new InMemorySpanExporter()

/** What a set-up of OpenTelemetry brings along: contexts that follow what is awaited. */
class FollowingContext implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT
  with = ((at: Context, work: (...args: unknown[]) => unknown, self: unknown, ...args: unknown[]) =>
    this.#storage.run(at, () => work.apply(self, args))) as ContextManager['with']
  bind = <T>(_context: Context, target: T) => target
  enable = () => this
  disable = () => this
}

let postgres: SharedPostgres
let database: string
let server: ServerHere
let worker: Awaited<ReturnType<typeof workHere>>

beforeAll(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(new FollowingContext())
  postgres = await sharedPostgres()
  database = await postgres.createDatabase()
  server = await serveHere({ config, database, worker: false })
  worker = await workHere()
})
afterAll(async () => {
  await worker?.stop()
  await server?.stop()
  await postgres?.stop()
})
afterEach(() => exporter.reset())

const spans = () => exporter.getFinishedSpans()
const named = (name: string): ReadableSpan => {
  const found = spans().find((span) => span.name === name)
  if (found === undefined) throw new Error(`no span ${name} in ${spans().map((span) => span.name)}`)
  return found
}
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId
const idOf = (span: ReadableSpan) => span.spanContext().spanId
const execute = (body: object, headers: Record<string, string> = {}) =>
  server.request('POST', '/api/v1/tools/show_trace/execute', { body, headers })

async function ended(id: string) {
  await expect.poll(async () => (await server.request('GET', `/api/v1/executions/${id}`)).body.status).toBe('SUCCESS')
  return (await server.request('GET', `/api/v1/executions/${id}`)).body
}

describe('traces', () => {
  it('go from the caller through the run to the child', async () => {
    const direct = await serveHere({ config, database })
    onTestFinished(() => direct.stop())
    const options = { body: { wait: true }, headers: { traceparent: given } }
    const { body } = await direct.request('POST', '/api/v1/tools/show_trace/execute', options)
    expect(body).toMatchObject({ status: 'SUCCESS', traceId })
    const [asked, run, executor] = [named('tools.execute'), named('run show_trace'), named('execute cli')]
    expect(spans().every((span) => span.spanContext().traceId === traceId)).toBe(true)
    expect([parentOf(asked), parentOf(run), parentOf(executor)]).toEqual(['00f067aa0ba902b7', idOf(asked), idOf(run)])
    expect(body.outputData.trim()).toBe(`00-${traceId}-${idOf(executor)}-01`)
    expect(run.attributes).toMatchObject({ 'tooldex.execution': body.id, 'tooldex.status': 'SUCCESS' })
  })

  it('go on where a worker takes the run from the queue', async () => {
    const taken = await execute({}, { traceparent: given })
    expect(taken.status).toBe(202)
    const row = await ended(taken.body.id)
    await expect.poll(() => spans().some((span) => span.name === 'run show_trace')).toBe(true)
    const [queued, run, executor] = [named('queue show_trace'), named('run show_trace'), named('execute cli')]
    expect(row.traceId).toBe(traceId)
    expect([parentOf(queued), parentOf(run), parentOf(executor)]).toEqual([
      idOf(named('tools.execute')),
      idOf(queued),
      idOf(run),
    ])
    expect(row.outputData.trim()).toBe(`00-${traceId}-${idOf(executor)}-01`)
  })

  it('begin here without a traceparent, and the execution has the id', async () => {
    const { body } = await execute({ wait: true })
    const own = named('tools.execute').spanContext().traceId
    expect(body.traceId).toBe(own)
    expect(body.outputData.trim()).toBe(`00-${own}-${idOf(named('execute cli'))}-01`)
    const queued = await execute({})
    const row = await ended(queued.body.id)
    expect(row.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(row.traceId).not.toBe(own)
    expect(row.outputData).toContain(row.traceId)
  })

  it('are not mixed up between calls that run at once', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => index.toString(16).padStart(32, 'a'))
    const taken = await Promise.all(ids.map((id) => execute({}, { traceparent: `00-${id}-00f067aa0ba902b7-01` })))
    const rows = await Promise.all(taken.map(({ body }) => ended(body.id)))
    expect(rows.map((row) => row.traceId)).toEqual(ids)
    expect(rows.map((row) => row.outputData.slice(3, 35))).toEqual(ids)
  })

  it('keep what the caller named in the body', async () => {
    const { body } = await execute({ wait: true, traceId: 'order-66' }, { traceparent: given })
    expect(body.traceId).toBe('order-66')
    const { body: found } = await server.request('GET', '/api/v1/executions?trace=order-66')
    expect(found.items.map((each: { id: string }) => each.id)).toEqual([body.id])
  })

  it('tell codes of failures, and never what was given', async () => {
    await execute({ wait: true, input: { more: 'a-secret-word' } })
    await execute({ wait: true, input: { more: { deep: 'a-secret-word' } } })
    expect(named('execute cli').attributes['error.type']).toBe('EXECUTION_FAILED')
    const failed = spans().filter((span) => span.attributes['error.type'] === 'INPUT_INVALID')
    expect(failed.length).toBeGreaterThanOrEqual(2)
    const told = spans().map(({ name, attributes, status, events }) => ({ name, attributes, status, events }))
    expect(JSON.stringify(told)).not.toContain('a-secret-word')
  })

  it('come with requests of MCP too, and are handed on as they came where nothing is recorded', async () => {
    const { client } = await connect([tempFile('traced.yaml', config)])
    const call = { name: 'call_tool', arguments: { name: 'show_trace', arguments: {} } }
    const told = await client.callTool({ ...call, _meta: { traceparent: given } })
    expect((told.structuredContent as { stdout: string }).stdout.trim()).toBe(given)
    const untold = await client.callTool({ ...call, _meta: { traceparent: 'nonsense' } })
    expect(untold.isError).toBe(true)
  })

  it('accept valid traceparents only', () => {
    expect(parseTraceHeader(given)).toEqual({ traceId, traceparent: given })
    expect(parseTraceHeader(`cc${given.slice(2)}-more`)?.traceparent).toBe(given)
    const wrong = [
      '',
      'x',
      `ff${given.slice(2)}`,
      given.toUpperCase(),
      given.slice(0, 54),
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    ]
    for (const each of [...wrong, `00-${traceId}-${'0'.repeat(16)}-01`, 7, undefined, [given]])
      expect(parseTraceHeader(each), String(each)).toBeUndefined()
  })
})
