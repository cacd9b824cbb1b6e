import { TooldexError } from '../../base/errors.ts'
import type { HttpConfig } from './check-config.ts'
import { ownHeaders } from './check-request.ts'
import { encodeBody } from './encode-body.ts'
import { asText, type ParameterStyle, toPartText, toQueryPairs } from './serialize-parameter.ts'

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
    for (const [key, text] of toQueryPairs(name, fill(value, input), styleOf(value, styles)))
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
      toPartText(parameter, input[parameter] ?? '', styles[parameter]),
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
  const text = toPartText(name, value, style, encodeURIComponent)
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
