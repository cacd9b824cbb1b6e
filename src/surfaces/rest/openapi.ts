import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { errorTable } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { apiExamplesFile, packageVersion } from '../../base/package-info.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { writtenAs } from '../../contract/as-stored.ts'
import { limitMeasures } from '../../contract/policy.ts'
import { hasBody, hasOwnKey, isKeepable, namesIn, type RoutedOperation, routes } from './routes.ts'

type Json = Record<string, unknown>

/** Requests and responses of all operations, recorded by `npm run docs`. */
interface ApiExamples {
  /** By operation name. */
  readonly bodies: Readonly<Record<string, unknown>>
  /** By operation name and status. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** An error response with several problems. */
  readonly problem: unknown
}

/** The OpenAPI 3.1 document, generated from the operations. */
export const openApiDocument = lazyModule(make, 1)

async function make(): Promise<Json> {
  const schemas: Json = { Problem: problemSchema }
  const examples = JSON.parse(readFileSync(apiExamplesFile, 'utf8')) as ApiExamples
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tooldex',
      version: packageVersion(),
      description: 'One place where the tools of LLM agents are described, found, governed and run.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{ key: [] }],
    tags: [...new Set(routes.map(({ http }) => http.tag))].map((name) => ({ name })),
    paths: { ...(await pathsOf(routes, { schemas, examples })), ...followPath },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      schemas,
      responses: { Problem: problemResponseSpec(examples.problem) },
    },
  }
}

interface DocumentParts {
  /** The shared schemas of the document, which receive recursive parts. */
  readonly schemas: Json
  readonly examples: ApiExamples
}

/** Describes the operations in turns with other requests: all of them take longer than a request may. */
async function pathsOf(all: readonly RoutedOperation[], parts: DocumentParts): Promise<Json> {
  const paths: Record<string, Json> = {}
  const turn = yieldTurns()
  for (const operation of all) {
    const { path, method } = operation.http
    paths[path] = { ...paths[path], [method]: describe(operation, parts) }
    await turn()
  }
  return paths
}

function describe(operation: RoutedOperation, parts: DocumentParts): Json {
  const { name, summary, scope, http, input } = operation
  const schema = toSchema(input, { io: 'input', name, schemas: parts.schemas })
  const properties = (schema.properties ?? {}) as Record<string, Json>
  const required = (schema.required ?? []) as readonly string[]
  const inPath = namesIn(http.path)
  const rest = Object.keys(properties).filter((field) => !inPath.includes(field) && field !== 'expectedVersion')
  const parameters = [
    ...inPath.map((field) => ({
      name: field,
      in: 'path',
      required: true,
      schema: properties[field] ?? { type: 'string' },
    })),
    ...(hasBody(operation)
      ? []
      : rest.map((field) => queryParameter(field, properties[field] ?? {}, required.includes(field)))),
    ...('expectedVersion' in properties ? [ifMatch] : []),
    ...(isKeepable(operation) || hasOwnKey(operation) ? [idempotencyKey] : []),
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
    ...(hasBody(operation) && rest.length > 0
      ? {
          requestBody: {
            required: body.required.length > 0,
            content: { 'application/json': withExample(body, parts.examples.bodies[name]) },
          },
        }
      : {}),
    responses: { ...successesOf(operation, parts), default: { $ref: '#/components/responses/Problem' } },
  }
}

/** The success responses, by status. */
function successesOf({ name, http, output }: RoutedOperation, { schemas, examples }: DocumentParts): Json {
  const schema = toSchema(output, { io: 'output', name, schemas })
  const contentFor = (status: number): Json =>
    http.media === undefined
      ? { 'application/json': withExample(schema, examples.answers[name]?.[status]) }
      : { [http.media]: { schema: { type: 'string' } } }
  const status = http.status ?? 200
  return {
    ...(http.isDone === undefined ? {} : { 200: { description: 'Success.', content: contentFor(200) } }),
    [status]: {
      description: status === 202 ? 'Accepted; not completed yet.' : 'Success.',
      ...(http.location === undefined ? {} : { headers: { Location: locationHeader } }),
      content: contentFor(status),
    },
  }
}

const listNote = 'Several values: a,b or by repeating the parameter; repeated values may contain commas (x=a%2Cb&x=).'

/** Arrays are written with commas or by repeating the parameter. */
const queryParameter = (name: string, schema: Json, required: boolean): Json => {
  const isList = JSON.stringify(schema).includes('"type":"array"')
  const description = [schema.description, isList ? listNote : undefined].filter((text) => text !== undefined)
  return {
    name,
    in: 'query',
    required,
    ...(description.length === 0 ? {} : { description: description.join(' ') }),
    ...(isList ? { style: 'form', explode: true } : {}),
    schema,
  }
}

const withExample = (schema: Json, example: unknown): Json => ({
  schema,
  ...(example === undefined ? {} : { example }),
})

interface SchemaContext extends Pick<DocumentParts, 'schemas'> {
  readonly io: 'input' | 'output'
  readonly name: string
}

function toSchema(schema: z.ZodType, { io, name, schemas }: SchemaContext): Json {
  const { $schema: _dialect, ...whole } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    // Stored values are described by the write schema, although reading accepts everything.
    override: ({ zodSchema, jsonSchema }) =>
      void Object.assign(jsonSchema, writtenAs.get(zodSchema as z.ZodUnknown)?.describe()),
  }) as Json
  const text = JSON.stringify(whole).replaceAll('"#/$defs/', `"#/components/schemas/${name}.${io}.`)
  const { $defs = {}, ...rest } = JSON.parse(text) as Json & { $defs?: Json }
  for (const [part, definition] of Object.entries($defs)) schemas[`${name}.${io}.${part}`] = definition
  return rest
}

const pick = (from: Record<string, Json>, names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, from[name]]))

/** The header for conditional changes. */
const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The expected state: an ETag, or the version of a tool, such as "3"; rejected with 412 if the state has changed. One of several tags must match; * matches any state.',
  schema: { type: 'string' },
}

/** The header for idempotent requests. */
export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same request with the same key runs once and gets the same response for a day.',
  schema: { type: 'string', maxLength: 200 },
}

/** The header with the path of a created resource. */
const locationHeader = { description: 'The path of the created resource.', schema: { type: 'string' } }

/** The schema of error responses. */
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
    id: { type: 'string', description: 'The id of an INTERNAL error in the log.' },
    limit: {
      type: 'object',
      description: 'Of LIMIT_EXCEEDED: the limit that was reached.',
      required: ['name', 'measure', 'max'],
      properties: {
        name: { type: 'string' },
        measure: { type: 'string', enum: [...limitMeasures] },
        max: { type: 'integer' },
      },
    },
    url: { type: 'string', description: 'Of SIGN_IN_REQUIRED: the page where the caller signs in.' },
    retryAfter: { type: 'integer', description: 'Of LIMIT_EXCEEDED: the seconds until it allows another call.' },
  },
}

/** The error response of every operation. */
const problemResponseSpec = (example: unknown) => ({
  description: 'Error in the format of RFC 9457.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example } },
})

/** The event stream of a run, which is not a JSON response. */
const followPath = {
  '/executions/{id}/events': {
    get: {
      operationId: 'executions.follow',
      summary: 'Follow a run as server-sent events: status, output, end.',
      description: 'Needs the scope `read`.',
      tags: ['executions'],
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
      ],
      responses: {
        200: { description: 'The events.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
        default: { $ref: '#/components/responses/Problem' },
      },
    },
  },
}
