import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { apiExamplesFile } from '../../src/base/package-info.ts'
import { openApiDocument } from '../../src/surfaces/rest/openapi.ts'
import type { Schema } from './schema-arbitrary.ts'

/** One way to ask the API, as its document tells it. */
export interface ApiOperation {
  readonly path: string
  readonly method: string
  readonly operationId: string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[]
  readonly body?: { readonly schema: Schema; readonly example?: unknown }
  readonly status: string
  /** All that a success may be answered with. */
  readonly statuses: readonly string[]
  /** What a success is; mostly JSON. */
  readonly media: string
}

interface Described {
  readonly operationId: string
  readonly parameters?: ApiOperation['parameters']
  readonly requestBody?: { content: { 'application/json': { schema: Schema; example?: unknown } } }
  readonly responses: Record<string, { readonly content?: Record<string, unknown> }>
}

/** The document, as anyone who fetches it sees it. */
export const apiDocument = JSON.parse(JSON.stringify(await openApiDocument())) as {
  readonly openapi: string
  readonly info: Record<string, unknown>
  readonly paths: Record<string, Record<string, Described>>
  readonly components: { readonly schemas: Record<string, Schema> }
  readonly tags: readonly { name: string }[]
}

/** The recorded examples: bodies by operation, answers by operation and status, and an error. */
export interface ApiExamples {
  readonly bodies: Readonly<Record<string, unknown>>
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly problem: { readonly status: number; readonly errors: readonly { readonly severity: string }[] }
}

export const apiExamples = JSON.parse(readFileSync(apiExamplesFile, 'utf8')) as ApiExamples

export const apiOperations: readonly ApiOperation[] = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters = [], requestBody, responses }]) => {
    const statuses = Object.keys(responses).filter((each) => each !== 'default')
    const [status = ''] = statuses
    return {
      path,
      method,
      operationId,
      parameters,
      ...(requestBody === undefined ? {} : { body: requestBody.content['application/json'] }),
      status,
      statuses,
      media: Object.keys(responses[status]?.content ?? {})[0] ?? '',
    }
  }),
)

/** Follows a pointer such as #/components/schemas/Problem. */
export function findRef(ref: string): Schema {
  const parts = ref
    .replace(/^#\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const found = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], apiDocument)
  if (typeof found !== 'object' || found === null) throw new Error(`nothing at ${ref}`)
  return found as Schema
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema({ ...apiDocument, $id: 'api' })

/** What is wrong with a value by the schema at a place of the document; nothing where it fits. */
export function faultsAt(pointer: string, value: unknown): string {
  const check = ajv.getSchema(`api${pointer}`)
  if (check === undefined) throw new Error(`no schema at ${pointer}`)
  return check(value) === true ? '' : ajv.errorsText(check.errors)
}

/** What is wrong with a schema as such. */
export const faultsOfSchema = (schema: unknown): string =>
  ajv.validateSchema(schema as object) === true ? '' : ajv.errorsText(ajv.errors)

const escapePart = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1')
/** Where the schema of an operation's answer is. */
export const answerAt = ({ path, method, status, media }: ApiOperation): string =>
  `#/paths/${encodeURIComponent(escapePart(path))}/${method}/responses/${status}/content/${escapePart(media)}/schema`
/** Where the schema of an operation's body is. */
export const bodyAt = ({ path, method }: ApiOperation): string =>
  `#/paths/${encodeURIComponent(escapePart(path))}/${method}/requestBody/content/application~1json/schema`
