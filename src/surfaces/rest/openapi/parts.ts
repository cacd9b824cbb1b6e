import { errorTable } from '../../../base/errors.ts'
import { problemExample } from './answers.ts'

/** The header that says what a change is made on. */
export const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'What the change is made on: the ETag it was read with, or of a tool its version, such as "3"; refused with 412 where it is another now. Of several one must hold; * is whatever is there.',
  schema: { type: 'string' },
}

/** The header that makes a request be done once. */
export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same request under the same key is done once, and answered alike, for a day.',
  schema: { type: 'string', maxLength: 200 },
}

/** The header that says where what was made is found. */
export const locationHeader = { description: 'The address of what was made.', schema: { type: 'string' } }

/** What every refusal looks like. */
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
    id: { type: 'string', description: 'Of an INTERNAL error: finds its cause in the log.' },
  },
}

/** Every refusal. */
export const problemResponseSpec = {
  description: 'Refused or failed, as RFC 9457 tells it.',
  content: {
    'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example: problemExample },
  },
}

/** Following a run is the one answer that is no JSON document. */
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
