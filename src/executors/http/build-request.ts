import { createHash } from 'node:crypto'
import { TooldexError } from '../../base/errors.ts'
import type { RunControls } from '../../contract/executor.ts'
import { type Auth, type HttpConfig, ownHeaders } from './check-config.ts'
import { asText, type ParameterStyle, serializePartParameter, serializeQueryParameter } from './serialize-parameter.ts'

/** A request with its parameters filled in; the authentication header is added when it is sent. */
export interface BuiltRequest {
  readonly method: HttpConfig['method']
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
}

type Input = Readonly<Record<string, unknown>>
const placeholder = /\{([A-Za-z_][\w.-]*)\}/g
const wholeString = /^\{([A-Za-z_][\w.-]*)\}$/

/** Fills a template: values in the URL are encoded; a placeholder that is a whole string of the body keeps the type of its value. */
export function buildRequest(config: HttpConfig, input: Input): BuiltRequest {
  const { method, url, query = {}, body, styles = {} } = config
  const target = new URL(url.replace(placeholder, (_, name: string) => encodePart(name, input[name], styles[name])))
  requireHttpUrl(target)
  for (const [name, value] of Object.entries(query))
    for (const [key, text] of serializeQueryParameter(name, fill(value, input), styleOf(value, styles)))
      target.searchParams.append(key, text)
  const headers = buildHeaders(config, input)
  const filled = body === undefined ? undefined : fill(body, input)
  if (filled === undefined) return { method, url: target, headers, body: null }
  const { body: sent, contentType } = encodeBody(config, filled)
  const type = contentType === undefined ? {} : { 'content-type': contentType }
  // The boundary of a multipart body is part of its content type.
  const all = config.bodyType === 'multipart' ? { ...headers, ...type } : { ...type, ...headers }
  return { method, url: target, headers: all, body: sent }
}

/** A header that is only a placeholder is omitted if its parameter is absent. */
function buildHeaders({ headers = {}, styles = {} }: HttpConfig, input: Input): Record<string, string> {
  const sent: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const [, wholeName] = wholeString.exec(value) ?? []
    if (wholeName !== undefined && input[wholeName] == null) continue
    const filled = value.replace(placeholder, (_, parameter: string) =>
      serializePartParameter(parameter, input[parameter] ?? '', styles[parameter]),
    )
    if (/[\0\r\n]/.test(filled))
      throw refuse(name, 'contains a line break or a NUL byte, which a header cannot contain')
    if (ownHeaders.has(name.toLowerCase())) throw refuse(name, 'is a header that Tooldex sets itself')
    sent[name.toLowerCase()] = filled
  }
  return sent
}

/** The style of the parameter that is the whole value. */
const styleOf = (value: unknown, styles: Readonly<Record<string, ParameterStyle>>): ParameterStyle | undefined =>
  typeof value === 'string' ? styles[wholeString.exec(value)?.[1] ?? ''] : undefined

/** Registration rejects these too, but a stored tool may be older than the rule. */
function requireHttpUrl({ protocol, username, password }: URL): void {
  if ((protocol === 'http:' || protocol === 'https:') && username === '' && password === '') return
  throw new TooldexError('ADDRESS_REFUSED', 'The URL must be an http or https URL without a user name or password.')
}

/** One part of a URL: a value cannot add a part, change the host or climb to a parent path. */
function encodePart(name: string, value: unknown, style?: ParameterStyle): string {
  if (value === undefined || value === null || value === '')
    throw refuse(name, 'is part of the URL and must not be empty')
  const text = serializePartParameter(name, value, style, encodeURIComponent)
  if (/^\.{0,2}$/.test(text)) throw refuse(name, "must not be empty, '.' or '..', because it is part of the URL")
  return text
}

/** Fills a template: a whole-string placeholder keeps the type of its value, and its key is dropped if the value is absent. */
function fill(template: unknown, input: Input): unknown {
  if (typeof template === 'string') {
    const [, wholeName] = wholeString.exec(template) ?? []
    if (wholeName !== undefined) return input[wholeName]
    return template.replace(placeholder, (_, name: string) => asText(input[name] ?? ''))
  }
  if (Array.isArray(template)) return template.map((each) => fill(each, input)).filter((each) => each !== undefined)
  if (typeof template !== 'object' || template === null) return template
  const filled = Object.entries(template).map(([name, each]) => [name, fill(each, input)] as const)
  return Object.fromEntries(filled.filter(([, each]) => each !== undefined))
}

const refuse = (name: string, why: string): TooldexError => {
  const message = `${name} ${why}`
  const problems = [{ severity: 'error', pointer: `/${name}`, message } as const]
  return new TooldexError('INPUT_INVALID', `${message}.`, { problems })
}

/** A body as it is sent, with the content type that describes it. */
interface EncodedBody {
  readonly body: string | Buffer
  readonly contentType?: string
}

/** Encodes the filled template of a body. */
function encodeBody({ bodyType, files = [] }: Pick<HttpConfig, 'bodyType' | 'files'>, value: unknown): EncodedBody {
  if (bodyType === 'binary') return { body: decodeBase64('body', value), contentType: 'application/octet-stream' }
  if (bodyType === 'form')
    return {
      body: new URLSearchParams(
        fieldsOf(value).flatMap(([name, each]) => [...serializeQueryParameter(name, each)]),
      ).toString(),
      contentType: 'application/x-www-form-urlencoded',
    }
  if (bodyType === 'multipart') return encodeMultipart(fieldsOf(value), new Set(files))
  if (typeof value === 'string' && bodyType !== 'json') return { body: value }
  return { body: JSON.stringify(value), contentType: 'application/json' }
}

function fieldsOf(value: unknown): readonly [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value)
  throw invalid('body', 'must be an object, whose properties are the fields of the form')
}

/** One part for each field, and for each item of an array; the boundary depends on the content only, so that a plan shows what is sent. */
function encodeMultipart(fields: readonly [string, unknown][], files: ReadonlySet<string>): EncodedBody {
  const parts = fields.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).filter((each) => each != null).map((each) => toPart(name, each, files)),
  )
  const boundary = `tooldex-${createHash('sha256').update(Buffer.concat(parts)).digest('hex').slice(0, 32)}`
  const pieces = [
    ...parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), part]),
    Buffer.from(`--${boundary}--\r\n`),
  ]
  return { body: Buffer.concat(pieces), contentType: `multipart/form-data; boundary=${boundary}` }
}

function toPart(name: string, value: unknown, files: ReadonlySet<string>): Buffer {
  const isFile = files.has(name)
  const type = typeof value === 'object' ? 'application/json' : undefined
  const header = [
    `content-disposition: form-data; name="${quote(name)}"${isFile ? `; filename="${quote(name)}"` : ''}`,
    ...(isFile ? ['content-type: application/octet-stream'] : type === undefined ? [] : [`content-type: ${type}`]),
  ]
  const content = isFile ? decodeBase64(name, value) : Buffer.from(asText(value))
  return Buffer.concat([Buffer.from(`${header.join('\r\n')}\r\n\r\n`), content, Buffer.from('\r\n')])
}

/** The escapes of the HTML standard for names in a multipart header. */
const quote = (text: string): string => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

function decodeBase64(name: string, value: unknown): Buffer {
  const text = typeof value === 'string' ? value.replace(/\s/g, '') : undefined
  if (text === undefined || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(text))
    throw invalid(name, 'must be the base64 text of the bytes to send')
  return Buffer.from(text, 'base64')
}

function invalid(name: string, why: string): TooldexError {
  const message = `${name} ${why}`
  return new TooldexError('INPUT_INVALID', `${message}.`, {
    problems: [{ severity: 'error', pointer: `/${name}`, message }],
  })
}

/** The secrets of a request, which only the first host receives. */
export interface RequestSecrets {
  readonly headers: Readonly<Record<string, string>>
  /** Parameters of the query, added when the request is sent. */
  readonly query: Readonly<Record<string, string>>
}

export const noSecrets: RequestSecrets = { headers: {}, query: {} }

/** Resolves the secrets of a request for each run; they are never stored. */
export async function resolveRequestSecrets(
  auth: HttpConfig['auth'],
  { secret: resolve, hide }: Pick<RunControls, 'secret' | 'hide'>,
): Promise<RequestSecrets> {
  const resolved: [Auth, string][] = []
  for (const each of credentialsIn(auth)) {
    if (resolve === undefined)
      throw new TooldexError('SECRET_UNAVAILABLE', 'The tool needs a secret, but secrets are not available here.')
    const secret = await resolve(each.secret)
    if (/[\0\r\n]/.test(secret))
      throw new TooldexError(
        'SECRET_UNAVAILABLE',
        'The secret contains a line break or a NUL byte, which a header cannot contain.',
      )
    const value = credentialOf(each, secret)
    // A service that echoes the request returns the secret in this form.
    hide?.(each.secret, value.replace(/^\w+ /, ''))
    resolved.push([each, value])
  }
  return place(resolved)
}

/** The same with the secrets masked, for a dry run. */
export const maskedSecrets = (auth: HttpConfig['auth']): RequestSecrets =>
  place(credentialsIn(auth).map((each) => [each, masked(each)]))

export const credentialsIn = (auth: HttpConfig['auth']): readonly Auth[] => (auth === undefined ? [] : [auth].flat())

function credentialOf(auth: Auth, secret: string): string {
  if (auth.type === 'bearer') return `Bearer ${secret}`
  if (auth.type !== 'basic') return secret
  const credentials = auth.username === undefined ? secret : `${auth.username}:${secret}`
  return `Basic ${Buffer.from(credentials).toString('base64')}`
}

function masked(auth: Auth): string {
  const mask = `[${auth.secret}]`
  return auth.type === 'bearer' || auth.type === 'basic' ? `${auth.type} ${mask}` : mask
}

function place(values: readonly (readonly [Auth, string])[]): RequestSecrets {
  const headers: Record<string, string> = {}
  const query: Record<string, string> = {}
  for (const [auth, value] of values) {
    if (auth.type === 'query') query[auth.name] = value
    else if (auth.type === 'header') headers[auth.name.toLowerCase()] = value
    else if (auth.type === 'cookie')
      headers.cookie = [headers.cookie, `${auth.name}=${value}`].filter((each) => each !== undefined).join('; ')
    else headers.authorization = value
  }
  return { headers, query }
}
