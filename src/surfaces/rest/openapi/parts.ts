import { errorTable } from '../../../base/errors.ts'
import { limitMeasures } from '../../../contract/policy.ts'

/** The header for conditional changes. */
export const ifMatch = {
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
export const locationHeader = { description: 'The path of the created resource.', schema: { type: 'string' } }

/** The schema of error responses. */
export const problemSchema = {
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
export const problemResponseSpec = (example: unknown) => ({
  description: 'Error in the format of RFC 9457.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example } },
})

/** The event stream of a run, which is not a JSON response. */
export const followPath = {
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
