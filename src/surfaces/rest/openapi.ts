import * as z from 'zod'
import { errorTable } from '../../base/errors.ts'
import { packageVersion } from '../../base/package-info.ts'
import { namesIn, type RoutedOperation, routes } from './routes.ts'

type Json = Record<string, unknown>
let made: Json | undefined

/** The OpenAPI 3.1 document of everything that can be reached over HTTP, made from the operations. */
export function openApiDocument(): Json {
  made ??= {
    openapi: '3.1.0',
    info: {
      title: 'Tooldex',
      version: packageVersion(),
      description: 'One place where the tools of LLM agents are described, found, governed and run.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{ key: [] }],
    tags: [...new Set(routes.map(({ http }) => http.tag))].map((name) => ({ name })),
    paths: pathsOf(routes),
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      schemas: { Problem: problemSchema },
      responses: { Problem: problemResponse },
    },
  }
  return made
}

function pathsOf(all: readonly RoutedOperation[]): Json {
  const paths: Record<string, Json> = {}
  for (const operation of all) {
    const { path, method } = operation.http
    paths[path] = { ...paths[path], [method]: describe(operation) }
  }
  return paths
}

function describe({ name, summary, scope, http, input, output }: RoutedOperation): Json {
  const schema = toSchema(input, 'input')
  const properties = (schema.properties ?? {}) as Record<string, Json>
  const required = (schema.required ?? []) as readonly string[]
  const inPath = namesIn(http.path)
  const rest = Object.keys(properties).filter((field) => !inPath.includes(field) && field !== 'expectedVersion')
  const hasBody = http.method !== 'get' && http.method !== 'delete'
  const parameters = [
    ...inPath.map((field) => ({
      name: field,
      in: 'path',
      required: true,
      schema: properties[field] ?? { type: 'string' },
    })),
    ...(hasBody ? [] : rest.map((field) => queryParameter(field, properties[field] ?? {}, required.includes(field)))),
    ...('expectedVersion' in properties ? [ifMatch] : []),
    ...(http.method === 'post' ? [idempotencyKey] : []),
  ]
  const body = {
    ...schema,
    properties: pick(properties, rest),
    required: required.filter((field) => rest.includes(field)),
  }
  return {
    operationId: name,
    summary,
    description: `Needs the scope \`${scope}\`.`,
    tags: [http.tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(hasBody && rest.length > 0
      ? { requestBody: { required: body.required.length > 0, content: { 'application/json': { schema: body } } } }
      : {}),
    responses: {
      [String(http.status ?? 200)]: {
        description: 'Done.',
        content: { 'application/json': { schema: toSchema(output, 'output') } },
      },
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

/** Lists are written with commas or by repeating the name. */
const queryParameter = (name: string, schema: Json, required: boolean): Json => ({
  name,
  in: 'query',
  required,
  ...(typeof schema.description === 'string' ? { description: schema.description } : {}),
  ...(schema.type === 'array' ? { style: 'form', explode: true } : {}),
  schema,
})

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The version the change is made on, such as "3"; refused with 412 where there is a newer one.',
  schema: { type: 'string' },
}
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same request under the same key is done once, and answered alike, for a day.',
  schema: { type: 'string', maxLength: 200 },
}
const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'hint', 'retryable', 'errors', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(errorTable) },
    hint: { type: 'string', description: 'The next step.' },
    retryable: { type: 'boolean' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['severity', 'message'],
        properties: {
          severity: { type: 'string', enum: ['error', 'warning'] },
          pointer: { type: 'string' },
          message: { type: 'string' },
          hint: { type: 'string' },
        },
      },
    },
    requestId: { type: 'string' },
  },
}
const problemResponse = {
  description: 'Refused or failed, as RFC 9457 tells it.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  return rest
}

const pick = (from: Record<string, Json>, names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, from[name]]))
