import fc, { type Arbitrary } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../src/base/errors.ts'
import {
  type ApiExamples,
  type ApiOperation,
  answerAt,
  apiDocument,
  apiExamples,
  apiOperations,
  bodyAt,
  faultsAt,
  faultsOfSchema,
  findRef,
} from './support/api-document.ts'
import { onServer } from './support/each-engine.ts'
import { draft } from './support/rest.ts'
import { brokenFrom, validFor } from './support/schema-arbitrary.ts'
import type { TestServer } from './support/start-server.ts'

const runs = Number(process.env.TOOLDEX_PROPERTY_RUNS ?? 12)

function everyRef(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : []
  return [...own, ...Object.values(value).flatMap(everyRef)]
}

describe('the OpenAPI document', () => {
  it('is of version 3.1, with what such a document must have', () => {
    expect(apiDocument.openapi).toMatch(/^3\.1\.\d+$/)
    expect(apiDocument.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
    for (const name of Object.keys(apiDocument.components.schemas)) expect(name).toMatch(/^[\w.-]+$/)
  })

  it('refers only to what is in it', () => {
    const refs = everyRef(apiDocument)
    expect(refs.length).toBeGreaterThan(apiOperations.length)
    for (const ref of refs) expect(() => findRef(ref), ref).not.toThrow()
  })

  it('names each operation once, and declares each name of each address', () => {
    expect(apiOperations.length).toBeGreaterThan(30)
    expect(new Set(apiOperations.map(({ operationId }) => operationId)).size).toBe(apiOperations.length)
    for (const { path, method, parameters, status, body } of apiOperations) {
      const inPath = parameters.filter((each) => each.in === 'path')
      expect(inPath.map(({ name }) => name)).toEqual(Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name))
      for (const each of inPath) expect(each.required).toBe(true)
      expect(new Set(parameters.map((each) => `${each.in} ${each.name}`)).size).toBe(parameters.length)
      expect(status).toMatch(/^20[01]$/)
      if (method === 'get' || method === 'delete') expect(body).toBeUndefined()
    }
  })

  it('has schemas that are valid JSON Schema 2020-12', () => {
    for (const operation of apiOperations) {
      for (const { schema } of operation.parameters) expect(faultsOfSchema(schema)).toBe('')
      if (operation.body !== undefined) expect(faultsOfSchema(operation.body.schema)).toBe('')
      expect(faultsOfSchema(findRef(decodeURIComponent(answerAt(operation))))).toBe('')
    }
    for (const schema of Object.values(apiDocument.components.schemas)) expect(faultsOfSchema(schema)).toBe('')
  })

  it('has an example of every body, and each is right', () => {
    for (const operation of apiOperations.filter(({ body }) => body !== undefined)) {
      expect(operation.body?.example, operation.operationId).toBeDefined()
      expect(faultsAt(bodyAt(operation), operation.body?.example), operation.operationId).toBe('')
    }
  })
})

/** Things for requests to be about. */
async function seed(server: TestServer): Promise<void> {
  await server.request('POST', '/tools', { body: draft('seeded') })
  await server.request('PATCH', '/tools/seeded', { body: { notes: `${Math.random()}` } })
  await server.request('POST', '/categories', { body: { name: 'Seeded' } })
  await server.request('PUT', '/policies/Seeded', { body: { default: 'enabled' } })
}

const names = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('seeded', 'Seeded', 'seeded@1') },
  fc.uuid(),
  fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }),
  fc.constantFrom('..', 'x'.repeat(300), '%', '\u0000', 'a/b', '__proto__'),
)

interface Asked {
  readonly path: string
  readonly query: string
  readonly body: unknown
}

/** Requests of one operation; `bend` makes of what is right what is sent. */
function requestsOf(
  operation: ApiOperation,
  bend: (valid: Arbitrary<unknown>) => Arbitrary<unknown>,
): Arbitrary<Asked> {
  const { path, parameters, body } = operation
  const inPath = parameters.filter((each) => each.in === 'path')
  const places = fc.record(
    Object.fromEntries(
      inPath.map(({ name, schema }) => [name, name === 'version' ? bend(validFor(schema, findRef)) : names]),
    ),
  )
  const inQuery = parameters.filter((each) => each.in === 'query')
  const properties = Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema]))
  const query = bend(validFor({ type: 'object', properties, additionalProperties: false }, findRef))
  const sent = body === undefined ? fc.constant(undefined) : bend(validFor(body.schema, findRef))
  return fc.record({ places, query, sent }).map(({ places: values, query: given, sent: bodySent }) => ({
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(toText(values[name])) || '%20'),
    query: inQuery.length === 0 ? '' : toQuery(given),
    body: operation.operationId === 'bundle.import' ? withoutPlaces(bodySent) : bodySent,
  }))
}

// A bundle that names an unknown category is a known defect, with a test of its own (faults/rest-known).
const withoutPlaces = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (name, value) => (name === 'parent' || name === 'category' ? null : value))

// An address cannot have half a character.
const toText = (value: unknown): string =>
  Buffer.from((typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 2000)).toString()

function toQuery(given: unknown): string {
  if (typeof given !== 'object' || given === null) return ''
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given))
    for (const each of [value].flat().slice(0, 20)) query.append(name, toText(each ?? ''))
  return `?${query.toString().slice(0, 8000)}`
}

/** Every answer is what the document says: the thing itself, or a problem. */
async function check(server: TestServer, operation: ApiOperation, { path, query, body }: Asked): Promise<void> {
  // The key that asks must stay, or nothing more could be asked.
  if (operation.operationId === 'keys.revoke' && path.endsWith('/admin')) return
  const answer = await server.request(operation.method.toUpperCase(), `${path}${query}`, { body })
  const type = answer.headers.get('content-type')
  // Dots in a path lead to another route.
  if (path.includes('/../')) {
    expect(answer.status).not.toBe(500)
    return
  }
  if (operation.statuses.includes(String(answer.status))) {
    expect(type).toBe(operation.media)
    const isJson = operation.media === 'application/json'
    expect(faultsAt(answerAt(operation), isJson ? answer.body : answer.text)).toBe('')
    return
  }
  expect(answer.status, answer.text.slice(0, 300)).not.toBe(500)
  expect(type).toBe('application/problem+json')
  expect(faultsAt('#/components/schemas/Problem', answer.body)).toBe('')
  const { http } = errorTable[answer.body.code as keyof typeof errorTable]
  if (answer.status !== 431) expect(answer.status).toBe(http)
}

type Recorder = { recordExamples(request: TestServer['request']): Promise<ApiExamples> }
const recorderFile = new URL('../scripts/record-examples.mjs', import.meta.url).href

/** The fields of a value and the types of their values; the items of an array are one. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf).slice(0, 1)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
}

const isUnknown = (shape: unknown) => shape === 'null' || (Array.isArray(shape) && shape.length === 0)

/** A shape in which each part that says nothing, null or an empty list, is that of the other, which may have had more time. */
function completeShape(shape: unknown, other: unknown): unknown {
  if (isUnknown(shape) && other !== undefined) return other
  if (Array.isArray(shape) && Array.isArray(other)) return shape.map((item) => completeShape(item, other[0]))
  if (typeof shape !== 'object' || shape === null || typeof other !== 'object' || other === null) return shape
  const known = other as Record<string, unknown>
  return Object.fromEntries(Object.entries(shape).map(([name, inner]) => [name, completeShape(inner, known[name])]))
}

function expectShape(actual: unknown, expected: unknown, name?: string): void {
  const [a, b] = [shapeOf(actual), shapeOf(expected)]
  expect(completeShape(a, b), name).toEqual(completeShape(b, a))
}

onServer(
  'every route, asked with what its own schemas allow and with what they do not',
  (server) => {
    it('answers in the shape of the recorded examples; if not, run npm run docs', async () => {
      const { recordExamples } = (await import(recorderFile)) as Recorder
      const recorded = await recordExamples(server().request)
      for (const [name, answers] of Object.entries(recorded.answers))
        expectShape(apiExamples.answers[name], answers, name)
      expect(apiExamples.bodies).toEqual(recorded.bodies)
      expectShape(apiExamples.problem, recorded.problem)
    })

    it.each(apiOperations)('$method $path', async (operation) => {
      await seed(server())
      await server().request('GET', '/tools')
      for (const bend of [(valid: Arbitrary<unknown>) => valid, brokenFrom])
        await fc.assert(
          fc.asyncProperty(requestsOf(operation, bend), (request) => check(server(), operation, request)),
          { numRuns: runs, endOnFailure: true },
        )
    })
  },
  { env: { TOOLDEX_LEARNING: 'on' } },
)
