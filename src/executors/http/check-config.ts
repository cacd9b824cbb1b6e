import * as z from 'zod'
import { TimeoutMs } from '../../contract/executor-kinds.ts'
import { SecretReference as Secret } from '../../contract/secret.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import type { SchemaParameters } from '../../json-schema/read-parameters.ts'
import { defineConfigCheck, findUnknownParameter, refusedDefault, WorkerLabel } from '../read-config.ts'
import { buildRequest } from './build-request.ts'
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

type Path = readonly PropertyKey[]

const placeholder = /\{([A-Za-z_][\w.-]*)\}/g
// Headers of the connection: a tool that sets these could smuggle a second request.
export const ownHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
])

/** Problems of a request whose fields are each valid by themselves. */
function checkRequest(config: HttpConfig, parameters: SchemaParameters): readonly Finding[] {
  const { method, url, headers = {}, query = {}, body, bodyType, styles = {} } = config
  const texts: [Path, string][] = [[['url'], url], ...textsIn({ headers, query, body }, [])]
  return [
    ...checkUrl(url),
    ...Object.keys(headers).flatMap(checkHeader),
    ...(body !== undefined && (method === 'GET' || method === 'HEAD')
      ? [{ path: ['body'], message: `a ${method} request has no body`, hint: 'use query, or the method POST' }]
      : []),
    ...(bodyType !== undefined && body === undefined
      ? [{ path: ['bodyType'], message: 'bodyType has no effect without a body', hint: 'add the body, or remove it' }]
      : []),
    ...Object.keys(styles).flatMap((name) => findUnknownParameter(name, parameters, ['styles', name])),
    ...texts.flatMap(([path, text]) =>
      [...text.matchAll(placeholder)].flatMap(([, name = '']) => findUnknownParameter(name, parameters, path)),
    ),
    ...(checkUrl(url).some(({ severity }) => severity === undefined) ? [] : checkDefaults(config, parameters)),
  ]
}

/** Defaults of the schema that are not allowed in the URL or in a header. */
function checkDefaults(config: HttpConfig, parameters: SchemaParameters): readonly Finding[] {
  const { method, url, headers = {} } = config
  const uses = (text: string, name: string) => text.includes(`{${name}}`)
  return [...parameters.defaults].flatMap(([name, { value }]) => [
    ...(uses(url, name)
      ? refusedDefault(name, ['url'], () => buildRequest({ method, url: urlWithOnly(url, name) }, { [name]: value }))
      : []),
    ...Object.entries(headers)
      .filter(([header, text]) => uses(text, name) && !ownHeaders.has(header.toLowerCase()))
      .flatMap(([header, text]) => {
        const build = () =>
          buildRequest({ method, url: 'https://localhost', headers: { [header]: text } }, { [name]: value })
        return refusedDefault(name, ['headers', header], build)
      }),
  ])
}

/** The URL with the other parameters filled in. */
const urlWithOnly = (url: string, parameter: string): string =>
  url.replace(placeholder, (text, name: string) => (name === parameter ? text : 'x'))

function checkUrl(text: string): readonly Finding[] {
  const path = ['url']
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== 'http' && scheme !== 'https')
    return [
      {
        path,
        message: 'url must start with https:// or http://',
        hint: 'such as "https://api.example.com/items/{id}"',
      },
    ]
  const host = /^[a-z]+:[/\\]*([^/\\?#]*)/i.exec(text)?.[1] ?? ''
  if (host.includes('{'))
    return [{ path, message: 'the host of url must not contain parameters', hint: 'use a fixed host' }]
  const filled = text.replace(placeholder, 'x')
  if (!URL.canParse(filled)) return [{ path, message: 'url is not a valid URL' }]
  const url = new URL(filled)
  const found: Finding[] = []
  if (url.username !== '' || url.password !== '' || host.includes('@'))
    found.push({
      path,
      message: 'url must not contain a user name or password',
      hint: 'use auth, with the name of a secret',
    })
  if (url.hash !== '')
    found.push({
      path,
      message: 'url must not have a fragment (#)',
      hint: 'remove it; fragments are never sent to a server',
    })
  if (text.replace(placeholder, '').match(/[{}]/) !== null)
    found.push({
      path,
      message: 'url contains a brace that is not part of a parameter',
      hint: 'write parameters as {name}',
    })
  if (scheme === 'http') found.push({ path, message: 'url is not encrypted', hint: 'use https', severity: 'warning' })
  return found
}

function checkHeader(name: string): readonly Finding[] {
  const path = ['headers', name]
  const lower = name.toLowerCase()
  if (ownHeaders.has(lower)) return [{ path, message: `the header '${name}' is set by Tooldex`, hint: 'remove it' }]
  if (!/^(?:authorization|cookie|proxy-authorization)$|api-?key|token|secret/.test(lower)) return []
  return [
    {
      path,
      message: `the header '${name}' would store a secret in the tool`,
      hint: 'use auth, with the name of a secret',
      severity: 'warning',
    },
  ]
}

function textsIn(value: unknown, path: Path): [Path, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null || path.length > 100) return []
  const entries: [PropertyKey, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, item]) => textsIn(item, [...path, key]))
}
