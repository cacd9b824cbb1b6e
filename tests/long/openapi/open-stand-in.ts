import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isObject, type JsonObject } from '../../../src/base/json-values.ts'
import { followPointer } from './make-sample.ts'

interface Operation {
  readonly method: string
  readonly path: string
  readonly operation: JsonObject
  readonly parameters: readonly JsonObject[]
}

/** The operations of a document of OpenAPI 3.1. */
export function listOperations(document: JsonObject): readonly Operation[] {
  const resolve = (value: unknown) =>
    (isObject(value) && typeof value.$ref === 'string' ? followPointer(document, value.$ref) : value) as JsonObject
  return Object.entries(document.paths as Record<string, JsonObject>).flatMap(([path, item]) =>
    ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'].flatMap((method) => {
      const operation = item[method]
      if (!isObject(operation)) return []
      const parameters = [item.parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []))
      return [{ method, path, operation, parameters: parameters.map(resolve) }]
    }),
  )
}

/** A service that checks every request by the document, with a validator of its own, and answers with what is wrong. */
export async function openStandIn(document: JsonObject) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, logger: false })
  ajv.addSchema({ $id: 'document', ...document })
  const isValid = (pointer: string, value: unknown) => {
    const check = ajv.compile({ $ref: `document#${pointer}` })
    return check(value) ? [] : [`${pointer}: ${ajv.errorsText(check.errors)}`]
  }
  const operations = listOperations(document)
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const url = new URL(request.url ?? '/', 'http://localhost')
    const found = findOperation(operations, String(request.method), url.pathname)
    const problems =
      found === undefined
        ? [`no operation ${request.method} ${url.pathname}`]
        : [
            ...checkQuery(found, url.searchParams),
            ...checkBody(document, found, String(request.headers['content-type'] ?? ''), Buffer.concat(parts), isValid),
          ]
    response.statusCode = problems.length === 0 ? 200 : 400
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ problems }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

/** The operation with the most fixed parts among those that match. */
function findOperation(operations: readonly Operation[], method: string, path: string): Operation | undefined {
  const parts = path.split('/')
  const matching = operations.filter(({ method: own, path: template }) => {
    const wanted = template.split('/')
    if (own.toUpperCase() !== method || wanted.length !== parts.length) return false
    return wanted.every((part, at) => part.includes('{') || part === parts[at])
  })
  const holes = ({ path: template }: Operation) => template.split('{').length
  return matching.sort((a, b) => holes(a) - holes(b))[0]
}

function checkQuery({ parameters }: Operation, query: URLSearchParams): readonly string[] {
  const known = parameters.filter(({ in: where }) => where === 'query')
  const names = known.map(({ name }) => String(name))
  const plain = (name: string) => name.replace(/\[.*$/, '')
  return [
    ...[...query.keys()]
      .filter((name) => !names.includes(name) && !names.includes(plain(name)))
      .map((name) => `unknown parameter ${name}`),
    ...known
      .filter(
        ({ name, required }) =>
          required === true && ![...query.keys()].some((key) => key === name || plain(key) === name),
      )
      .map(({ name }) => `missing parameter ${name}`),
  ]
}

type Validate = (pointer: string, value: unknown) => readonly string[]

function checkBody(
  document: JsonObject,
  found: Operation,
  type: string,
  body: Buffer,
  isValid: Validate,
): readonly string[] {
  const { operation, method, path } = found
  const own = operation.requestBody
  if (!isObject(own)) return body.length === 0 ? [] : ['a body that the document does not know']
  const isReference = typeof own.$ref === 'string'
  const declared = (isReference ? followPointer(document, String(own.$ref)) : own) as JsonObject
  const content = declared.content as JsonObject
  if (body.length === 0) return declared.required === true ? ['the body is missing'] : []
  const media = type.split(';')[0] ?? ''
  const match = Object.keys(content).find((name) => name === media || name === '*/*')
  if (match === undefined) return [`media type ${media}, not one of ${Object.keys(content).join(', ')}`]
  if (!media.includes('json')) return []
  const quote = (text: string) => text.replaceAll('~', '~0').replaceAll('/', '~1')
  const base = isReference ? String(own.$ref).slice(1) : `/paths/${quote(path)}/${method}/requestBody`
  const pointer = `${base}/content/${quote(match)}/schema`.split('/').map(encodeURIComponent).join('/')
  return isObject((content[match] as JsonObject).schema) ? isValid(pointer, JSON.parse(String(body))) : []
}
