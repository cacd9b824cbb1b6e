import { TooldexError } from '../../base/errors.ts'
import type { HttpConfig } from './check-config.ts'
import { ownHeaders } from './check-request.ts'

/** A request with its parameters filled in; the authentication header is added when it is sent. */
export interface BuiltRequest {
  readonly method: HttpConfig['method']
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

type Input = Readonly<Record<string, unknown>>
const placeholder = /\{([A-Za-z_][\w.-]*)\}/g
const wholeString = /^\{([A-Za-z_][\w.-]*)\}$/

/** Fills a template: values in the URL are encoded; a placeholder that is a whole string of the body keeps the type of its value. */
export function buildRequest({ method, url, headers = {}, query = {}, body }: HttpConfig, input: Input): BuiltRequest {
  const target = new URL(url.replace(placeholder, (_, name: string) => encodePart(name, input[name])))
  requireHttpUrl(target)
  for (const [name, value] of Object.entries(query)) {
    for (const each of [fill(value, input)].flat())
      if (each !== undefined && each !== null) target.searchParams.append(name, asText(each))
  }
  const sentHeaders: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const filled = value.replace(placeholder, (_, parameter: string) => asText(input[parameter] ?? ''))
    if (/[\0\r\n]/.test(filled))
      throw refuse(name, 'contains a line break or a NUL byte, which a header cannot contain')
    if (ownHeaders.has(name.toLowerCase())) throw refuse(name, 'is a header that Tooldex sets itself')
    sentHeaders[name.toLowerCase()] = filled
  }
  if (body === undefined) return { method, url: target, headers: sentHeaders, body: null }
  const filled = fill(body, input)
  if (typeof filled !== 'string') sentHeaders['content-type'] ??= 'application/json'
  return {
    method,
    url: target,
    headers: sentHeaders,
    body: typeof filled === 'string' ? filled : JSON.stringify(filled),
  }
}

/** Registration rejects these too, but a stored tool may be older than the rule. */
function requireHttpUrl({ protocol, username, password }: URL): void {
  if ((protocol === 'http:' || protocol === 'https:') && username === '' && password === '') return
  throw new TooldexError('ADDRESS_REFUSED', 'The URL must be an http or https URL without a user name or password.')
}

/** One part of a URL: a value cannot add a part, change the host or climb to a parent path. */
function encodePart(name: string, value: unknown): string {
  if (value === undefined || value === null || value === '')
    throw refuse(name, 'is part of the URL and must not be empty')
  const text = asText(value)
  if (/^\.{1,2}$/.test(text)) throw refuse(name, "must not be '.' or '..', because it is part of the URL")
  return encodeURIComponent(text)
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

const asText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

const refuse = (name: string, why: string): TooldexError => {
  const message = `${name} ${why}`
  const problems = [{ severity: 'error', pointer: `/${name}`, message } as const]
  return new TooldexError('INPUT_INVALID', `${message}.`, { problems })
}
