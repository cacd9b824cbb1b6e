import * as z from 'zod'
import { SecretReference as Secret } from '../../contract/secret.ts'
import { defineConfigCheck, TimeoutMs, WorkerLabel } from '../read-config.ts'
import { checkRequest } from './check-request.ts'

const HeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a header')
const HeaderValue = z.string().regex(/^[^\0\r\n]*$/, 'must be one line')
const Value = z.union([z.string(), z.number(), z.boolean()])

/** Who the request is from: secrets are named here, and kept elsewhere. */
const Auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bearer'), secret: Secret }),
  z.strictObject({ type: z.literal('basic'), username: z.string().min(1), secret: Secret }),
  z.strictObject({ type: z.literal('header'), name: HeaderName, secret: Secret }),
])

/** A request in which `{name}` stands for the value of a parameter. */
export const HttpConfig = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: z.string().min(1).max(8000),
  headers: z.record(HeaderName, HeaderValue).optional(),
  query: z.record(z.string().min(1), z.union([Value, z.array(Value)])).optional(),
  body: z.unknown().optional(),
  response: z
    .strictObject({
      type: z.enum(['json', 'text']).optional(),
      /** The part of a JSON answer that is the result. */
      pointer: z
        .string()
        .regex(/^(?:\/.*)?$/, 'must be a JSON pointer, such as /data/items')
        .optional(),
      /** Or all that a JSONPath finds in it, as a list. */
      path: z.string().min(1).max(1000).optional(),
    })
    .optional(),
  auth: Auth.optional(),
  timeoutMs: TimeoutMs.optional(),
  /** The largest answer that is taken. */
  maxBytes: z
    .int()
    .min(1)
    .max(100 * 1024 * 1024)
    .optional(),
  /** Whether it may ask addresses that are not on the internet; for admins to say. */
  allowPrivate: z.boolean().optional(),
  worker: WorkerLabel.optional(),
})
export type HttpConfig = z.infer<typeof HttpConfig>

/** What is wrong with the config of a request. */
export const checkHttpConfig = defineConfigCheck(HttpConfig, checkRequest)
