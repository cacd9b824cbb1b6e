import { isObject, type JsonObject, textsOf } from '../../../base/json-values.ts'
import { registryLimits } from '../../../contract/registry.ts'
import { cutLine } from '../../../rules/cut-text.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts'

const maxDescription = 1200

/** The texts of a tool that people and models read. */
export interface OperationTexts {
  readonly displayName: string
  readonly description: string
  readonly notes: string | null
  readonly externalRefs: readonly string[]
}

/** The texts of an operation: a long description goes on in the notes. */
export function readOperationTexts(
  { operation, item, method, path }: OpenApiOperation,
  names: ReadonlySet<string>,
  document: OpenApiDocument,
): OperationTexts {
  const summary = textOf(operation.summary) ?? textOf(item.summary)
  const long = textOf(operation.description) ?? textOf(item.description)
  const whole = [summary, long === summary ? undefined : long].filter((text) => text !== undefined).join('\n\n')
  const title = summary ?? textOf(operation.operationId) ?? `${method.toUpperCase()} ${path}`
  const notes = [
    `${method.toUpperCase()} ${path}`,
    ...paginationOf(names),
    ...(whole.length > maxDescription ? [whole] : []),
  ].join('\n\n')
  const { url } = document.object(operation.externalDocs)
  return {
    displayName: cutLine(title.replace(/\s+/g, ' '), registryLimits.displayName),
    description: cutLine(whole === '' ? `${method.toUpperCase()} ${path}` : whole, maxDescription),
    notes: cutLine(notes, registryLimits.notes),
    externalRefs: typeof url === 'string' && /^https?:\/\//.test(url) ? [url.slice(0, 2000)] : [],
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

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

/** The hints of the method for clients. */
export function annotationsOf(method: string): JsonObject {
  const isRead = method === 'get' || method === 'head'
  return {
    readOnlyHint: isRead,
    ...(isRead ? {} : { destructiveHint: method === 'delete' || method === 'put' || method === 'patch' }),
    idempotentHint: isRead || method === 'put' || method === 'delete',
    openWorldHint: true,
  }
}

/** The tags of an operation that can be tags of a tool. */
export const tagsOf = ({ operation }: OpenApiOperation): readonly string[] =>
  textsOf(operation.tags)
    .map((tag) => tag.trim().slice(0, registryLimits.tag))
    .filter((tag) => tag !== '')
    .slice(0, registryLimits.tags)

/** The base URL of an operation, without a slash at the end; undefined if the document has no absolute one. */
export function baseUrlOf(
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
