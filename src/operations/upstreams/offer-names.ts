import type { UpstreamServer } from '../../contract/mcp-server.ts'

type Fields = Readonly<Record<string, unknown>>

/** The name of a prompt for clients: `notes.summarize`. */
const toPromptName = ({ namespace }: UpstreamServer, name: string): string =>
  namespace === '' ? name : `${namespace}.${name}`

/** The URI of a resource for clients: the namespace is the beginning of the scheme, as in `notes+file:///a.txt`. */
const toUri = ({ namespace }: UpstreamServer, uri: string): string => (namespace === '' ? uri : `${namespace}+${uri}`)

/** A listed prompt, resource or template with its name or URI for clients. */
export function qualifyOffer(server: UpstreamServer, item: Fields): Record<string, unknown> {
  const { name, uri, uriTemplate } = item
  if (typeof uri === 'string') return { ...item, uri: toUri(server, uri) }
  if (typeof uriTemplate === 'string') return { ...item, uriTemplate: toUri(server, uriTemplate) }
  return { ...item, name: toPromptName(server, String(name)) }
}

/** A result with the URIs of all its resources for clients. */
export function qualifyOfferUris(server: UpstreamServer, result: Fields): Record<string, unknown> {
  if (server.namespace === '') return { ...result }
  const qualified = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(qualified)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, each]) => [
      key,
      key === 'uri' && typeof each === 'string' ? toUri(server, each) : qualified(each),
    ])
    return Object.fromEntries(entries)
  }
  const { contents, messages } = result
  return {
    ...result,
    ...(contents === undefined ? {} : { contents: qualified(contents) }),
    ...(messages === undefined ? {} : { messages: qualified(messages) }),
  }
}

/** A server that may have a prompt or resource, with the parameters for it. */
interface Candidate {
  readonly server: UpstreamServer
  readonly params: Fields
}

/** The servers that a name or URI can belong to, those with the longest namespace first. */
export function resolveOffer(servers: readonly UpstreamServer[], method: string, params: Fields): readonly Candidate[] {
  const byLength = [...servers].sort((a, b) => b.namespace.length - a.namespace.length)
  const found = byLength.flatMap((server): readonly Candidate[] => {
    const own = method === 'completion/complete' ? ownReference(server, params) : ownFields(server, params)
    return own === undefined ? [] : [{ server, params: own }]
  })
  const qualified = found.filter(({ server }) => server.namespace !== '')
  return qualified.length > 0 ? qualified.slice(0, 1) : found
}

function ownFields(server: UpstreamServer, params: Fields): Fields | undefined {
  const key = typeof params.uri === 'string' ? 'uri' : 'name'
  const own = strip(server, String(params[key] ?? ''), key === 'uri' ? '+' : '.')
  return own === undefined ? undefined : { ...params, [key]: own }
}

function ownReference(server: UpstreamServer, params: Fields): Fields | undefined {
  const ref = (params.ref ?? {}) as Fields
  const own = ownFields(server, ref)
  return own === undefined ? undefined : { ...params, ref: own }
}

function strip({ namespace }: UpstreamServer, text: string, separator: '+' | '.'): string | undefined {
  if (namespace === '') return text
  const prefix = `${namespace}${separator}`
  return text.toLowerCase().startsWith(prefix.toLowerCase()) ? text.slice(prefix.length) : undefined
}
