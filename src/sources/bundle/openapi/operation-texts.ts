import { createHash } from 'node:crypto'
import { isObject, type JsonObject, textsOf } from '../../../base/json-values.ts'
import type { OpenApiOptions } from '../../../contract/bundle.ts'
import { registryLimits } from '../../../contract/registry.ts'
import { cutLine, cutText } from '../../../rules/cut-text.ts'
import { toClientName } from '../../../rules/tool-id.ts'
import { toSafeToolName } from '../foreign-tool.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts'
import { resourceText, withoutLinks, withoutMarkup, withoutRepeated } from './plain-texts.ts'

const maxDescription = 1200
// A description that says less needs that of its resource.
const shortDescription = 200

/** The texts of a tool that people and models read. */
interface OperationTexts {
  readonly displayName: string
  readonly description: string
  readonly notes: string | null
  readonly externalRefs: readonly string[]
}

/** The texts of an operation: a long description goes on in the notes. */
export function readOperationTexts(
  read: OpenApiOperation,
  names: ReadonlySet<string>,
  document: OpenApiDocument,
): OperationTexts {
  const { operation, item, method, path } = read
  const summary = textOf(operation.summary) ?? textOf(item.summary)
  const long = textOf(operation.description) ?? textOf(item.description)
  const whole = [summary, long === summary ? undefined : long].filter((text) => text !== undefined).join('\n\n')
  const own = withoutLinks(withoutRepeated(whole, document))
  const about = own.length < shortDescription ? resourceText(read, document) : undefined
  const description = [own, about && withoutLinks(about)]
    .filter((text) => text !== undefined && text !== '')
    .join('\n\n')
  const title = summary ?? textOf(operation.operationId) ?? `${method.toUpperCase()} ${path}`
  const notes = [
    `${method.toUpperCase()} ${path}`,
    ...paginationOf(names),
    ...(own !== whole || whole.length > maxDescription ? [whole] : []),
  ].join('\n\n')
  const { url } = document.object(operation.externalDocs)
  return {
    displayName: cutLine(title.replace(/\s+/g, ' '), registryLimits.displayName),
    description: cutLine(description === '' ? `${method.toUpperCase()} ${path}` : description, maxDescription),
    notes: cutLine(notes, registryLimits.notes),
    externalRefs: typeof url === 'string' && /^https?:\/\//.test(url) ? [url.slice(0, 2000)] : [],
  }
}

const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? withoutMarkup(value).trim() : ''
  return text === '' ? undefined : text
}

const pageNames = [
  'page',
  'page_number',
  'pageNumber',
  'page_token',
  'pageToken',
  'cursor',
  'after',
  'starting_after',
  'next_token',
  'nextToken',
  'marker',
  'offset',
  'skip',
  'start',
]
const sizeNames = ['per_page', 'perPage', 'page_size', 'pageSize', 'limit', 'max_results', 'maxResults', 'count', 'top']

/** How to read all pages of a list. */
function paginationOf(names: ReadonlySet<string>): readonly string[] {
  const page = pageNames.find((name) => names.has(name))
  const size = sizeNames.find((name) => names.has(name))
  if (page === undefined) return []
  return [`Results come in pages: \`${page}\` selects the page${size === undefined ? '' : `, \`${size}\` its size`}.`]
}

/** The tags of an operation that can be tags of a tool. */
export const tagsOf = ({ operation }: OpenApiOperation): readonly string[] =>
  textsOf(operation.tags)
    .map((tag) => tag.trim().slice(0, registryLimits.tag))
    .filter((tag) => tag !== '')
    .slice(0, registryLimits.tags)

/** The base URL of an operation, without a slash at the end; undefined if the document has no absolute one. */
export function baseUrlOfOperation(
  { operation, item }: OpenApiOperation,
  document: OpenApiDocument,
  given: string | undefined,
): string | undefined {
  if (given !== undefined) return given.replace(/\/+$/, '')
  const servers = [operation.servers, item.servers, document.root.servers].find(
    (list) => Array.isArray(list) && list.length > 0,
  )
  const server = document.object((servers as readonly unknown[] | undefined)?.[0])
  const variables = document.object(server.variables)
  const url = String(server.url ?? '').replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const { default: value } = isObject(variables[name]) ? variables[name] : {}
    return String(value ?? '')
  })
  return /^https?:\/\/[^/]/i.test(url) ? url.replace(/\/+$/, '') : undefined
}

const maxNamespace = 30
// Words of titles that say nothing about the service.
const emptyWords =
  /\b(?:the|rest|restful|http|web|open|public|api|apis|openapi|swagger|specification|spec|documentation|docs|v\d[\w.]*|\d+(?:\.\d+)+)\b/gi

/** The namespace of a document: its title if that is short (`GitHub v3 REST API` becomes `github`), otherwise its domain. */
export function namespaceOfDocument({ info, servers }: JsonObject): string {
  const title = isObject(info) && typeof info.title === 'string' ? info.title : ''
  const own = toWords(title.replace(emptyWords, ' '))
  const [server] = Array.isArray(servers) ? servers : []
  const short = own.length > 0 && own.length <= 2 ? own : domainOf(isObject(server) ? server.url : undefined)
  return (short ?? own).join('_').slice(0, maxNamespace).replace(/_$/, '') || 'api'
}

const toWords = (text: string): readonly string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? []

/** The name in a domain: `https://api.github.com` has `github`. */
function domainOf(url: unknown): readonly string[] | undefined {
  const [, host = ''] = /^https?:\/\/([^/:{}]+)/i.exec(String(url)) ?? []
  const labels = host.toLowerCase().split('.')
  return labels.length < 2 || /^[\d.]+$/.test(host) ? undefined : toWords(labels.at(-2) ?? '')
}

/** The names of tools, each different and independent of the order of the operations. */
export class OperationNames {
  readonly #prefix: string
  readonly #taken = new Map<string, number>()

  constructor(namespace: string, operations: readonly OpenApiOperation[]) {
    this.#prefix = toSafeToolName(namespace)
    for (const operation of operations) {
      const name = this.#plain(operation)
      this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1)
    }
  }

  nameOf(operation: OpenApiOperation): string {
    const name = this.#plain(operation)
    if (this.#taken.get(name) === 1) return toClientName(name)
    const hash = createHash('sha256').update(`${operation.method} ${operation.path}`).digest('hex').slice(0, 6)
    return toClientName(`${name}_${hash}`)
  }

  #plain({ operation: { operationId }, method, path }: OpenApiOperation): string {
    const own = typeof operationId === 'string' ? toSafeToolName(operationId).replace(/_+/g, '_') : ''
    const name = own === '' ? toSafeToolName(wordsOf(method, path)) : own
    return name === this.#prefix || name.startsWith(`${this.#prefix}_`) ? name : `${this.#prefix}_${name}`
  }
}

/** `get /users/{id}/posts` as `get users posts`, and a parameter at the end as `by id`. */
function wordsOf(method: string, path: string): string {
  const parts = path.split('/').filter((part) => part !== '')
  const fixed = parts.map((part) => part.replace(/\{[^{}]*\}/g, '')).filter((part) => part !== '')
  const [, last] = /^\{(.*)\}$/.exec(parts.at(-1) ?? '') ?? []
  return [method, ...fixed, ...(last === undefined ? [] : ['by', last])].join(' ')
}

/** Whether the options select an operation. */
export function isSelectedOperation(
  { operation, method, path }: OpenApiOperation,
  { include, exclude = [] }: Pick<OpenApiOptions, 'include' | 'exclude'>,
): boolean {
  const spellings = [
    ...(typeof operation.operationId === 'string' ? [operation.operationId] : []),
    `${method.toUpperCase()} ${path}`,
    path,
    ...textsOf(operation.tags).map((tag) => `tag:${tag}`),
  ]
  const matches = (pattern: string) => spellings.some((text) => matchesGlob(text.toLowerCase(), pattern.toLowerCase()))
  return (include === undefined || include.some(matches)) && !exclude.some(matches)
}

/** Compares part by part instead of by a regular expression, whose time a pattern could blow up. */
function matchesGlob(text: string, pattern: string): boolean {
  const parts = pattern.split('*')
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (parts.length === 1) return text === pattern
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > text.length - last.length) return false
    at = found + part.length
  }
  return true
}

/** The category of a tag: below the category of the service, and different from those of other services. */
export const categoryOf = (service: string, tag: string): string =>
  cutText(
    tag.toLowerCase().startsWith(service.toLowerCase()) ? tag : `${service} ${tag}`,
    registryLimits.category,
  ).trim()
