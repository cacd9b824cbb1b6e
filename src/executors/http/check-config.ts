import * as z from 'zod'
import { TimeoutMs } from '../../contract/executor-kinds.ts'
import { SecretReference as Secret } from '../../contract/secret.ts'
import { defineConfigCheck, WorkerLabel } from '../read-config.ts'
import { checkRequest } from './check-request.ts'
import { ParameterStyle } from './serialize-parameter.ts'

const HeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a valid header name')
const HeaderValue = z.string().regex(/^[^\0\r\n]*$/, 'must not contain a line break or a NUL byte')
const Value = z.union([z.string(), z.number(), z.boolean()])

/** The authentication of a request: a reference to a secret, never its value. */
const Auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bearer'), secret: Secret }),
  /** Without a user name, the secret is `user:password`. */
  z.strictObject({ type: z.literal('basic'), username: z.string().min(1).optional(), secret: Secret }),
  z.strictObject({ type: z.literal('header'), name: HeaderName, secret: Secret }),
  z.strictObject({ type: z.literal('query'), name: z.string().min(1), secret: Secret }),
  z.strictObject({ type: z.literal('cookie'), name: HeaderName, secret: Secret }),
])
export type Auth = z.infer<typeof Auth>

/** A request in which `{name}` stands for the value of a parameter. */
export const HttpConfig = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: z.string().min(1).max(8000),
  headers: z.record(HeaderName, HeaderValue).optional(),
  query: z.record(z.string().min(1), z.union([Value, z.array(Value)])).optional(),
  body: z.unknown().optional(),
  /** How the body is encoded: as JSON, or a string as it is, where absent. */
  bodyType: z.enum(['json', 'form', 'multipart', 'binary']).optional(),
  /** The fields of a multipart body that are files, with their content as base64. */
  files: z.array(z.string().min(1)).max(100).optional(),
  /** The styles of parameters with arrays or objects in the URL or in headers, by name. */
  styles: z.record(z.string(), ParameterStyle).optional(),
  response: z
    .strictObject({
      type: z.enum(['json', 'text']).optional(),
      /** The part of a JSON response that is the result. */
      pointer: z
        .string()
        .regex(/^(?:\/.*)?$/, 'must be a JSON pointer, such as /data/items')
        .optional(),
      /** Or all matches of a JSONPath, as an array. */
      path: z.string().min(1).max(1000).optional(),
    })
    .optional(),
  auth: z.union([Auth, z.array(Auth).min(1).max(4)]).optional(),
  timeoutMs: TimeoutMs.optional(),
  /** The maximum size of a response. */
  maxBytes: z
    .int()
    .min(1)
    .max(100 * 1024 * 1024)
    .optional(),
  /** Whether requests to private addresses are allowed; only admins may set it. */
  allowPrivate: z.boolean().optional(),
  worker: WorkerLabel.optional(),
})
export type HttpConfig = z.infer<typeof HttpConfig>

/** Validates the config of an HTTP tool. */
export const checkHttpConfig = defineConfigCheck(HttpConfig, checkRequest)
