import { TooldexError } from '../../base/errors.ts'
import type { HttpConfig } from './check-config.ts'
import { ownHeaders } from './check-request.ts'

/** A request with its parameters filled in; who it is from is added when it is sent. */
export interface BuiltRequest {
  readonly method: HttpConfig['method']
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

type Input = Readonly<Record<string, unknown>>
const placeholder = /\{([A-Za-z_][\w.-]*)\}/g
const wholeWord = /^\{([A-Za-z_][\w.-]*)\}$/

/** Fills a template: what stands in an address is encoded, what stands alone in a body keeps its type. */
export function buildRequest({ method, url, headers = {}, query = {}, body }: HttpConfig, input: Input): BuiltRequest {
  const address = new URL(url.replace(placeholder, (_, name: string) => encodePart(name, input[name])))
  refuseAddress(address)
  for (const [name, value] of Object.entries(query)) {
    for (const each of [fill(value, input)].flat())
      if (each !== undefined && each !== null) address.searchParams.append(name, asText(each))
  }
  const sent: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const filled = value.replace(placeholder, (_, parameter: string) => asText(input[parameter] ?? ''))
    if (/[\0\r\n]/.test(filled)) throw refuse(name, 'would break a header in two')
    if (ownHeaders.has(name.toLowerCase())) throw refuse(name, 'is not for a tool to set')
    sent[name.toLowerCase()] = filled
  }
  if (body === undefined) return { method, url: address, headers: sent, body: null }
  const filled = fill(body, input)
  if (typeof filled !== 'string') sent['content-type'] ??= 'application/json'
  return { method, url: address, headers: sent, body: typeof filled === 'string' ? filled : JSON.stringify(filled) }
}

/** Registration refuses these too; what is stored may be older than a rule. */
function refuseAddress({ protocol, username, password }: URL): void {
  if ((protocol === 'http:' || protocol === 'https:') && username === '' && password === '') return
  throw new TooldexError('ADDRESS_REFUSED', 'Only addresses of http and https are asked, without a password in them.')
}

/** One part of an address: nothing in a value can become another part, another address or a way up. */
function encodePart(name: string, value: unknown): string {
  if (value === undefined || value === null || value === '')
    throw refuse(name, 'is part of the address and must be given')
  const text = asText(value)
  if (/^\.{1,2}$/.test(text)) throw refuse(name, 'may not be a way up in the address')
  return encodeURIComponent(text)
}

/** A template with its parameters: one that stands alone keeps its type, and goes with its key where it is not given. */
function fill(template: unknown, input: Input): unknown {
  if (typeof template === 'string') {
    const [, alone] = wholeWord.exec(template) ?? []
    if (alone !== undefined) return input[alone]
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
