import { createHash } from 'node:crypto'
import { isObject, type JsonObject, textsOf } from '../../../base/json-values.ts'
import type { OpenApiOptions } from '../../../contract/bundle.ts'
import { registryLimits } from '../../../contract/registry.ts'
import { cutText } from '../../../rules/cut-text.ts'
import { toClientName } from '../../../rules/tool-id.ts'
import { toSafeName } from '../foreign-tool.ts'
import type { OpenApiOperation } from './openapi-document.ts'

const maxNamespace = 30
// Words of titles that say nothing about the service.
const emptyWords =
  /\b(?:the|rest|restful|http|web|open|public|api|apis|openapi|swagger|specification|spec|documentation|docs|v\d[\w.]*|\d+(?:\.\d+)+)\b/gi

/** The namespace of a document: its title if that is short (`GitHub v3 REST API` becomes `github`), otherwise its domain. */
export function namespaceOf({ info, servers }: JsonObject): string {
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
    this.#prefix = toSafeName(namespace)
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
    const own = typeof operationId === 'string' ? toSafeName(operationId).replace(/_+/g, '_') : ''
    const name = own === '' ? toSafeName(wordsOf(method, path)) : own
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
export function isSelected(
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
