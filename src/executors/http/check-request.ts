import type { Finding } from '../../diagnostics/finding.ts'
import type { SchemaParameters } from '../../json-schema/read-parameters.ts'
import { findUnknownParameter, refusedDefault } from '../read-config.ts'
import { buildRequest } from './build-request.ts'
import type { HttpConfig } from './check-config.ts'

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
export function checkRequest(config: HttpConfig, parameters: SchemaParameters): readonly Finding[] {
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
