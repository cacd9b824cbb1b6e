import { isObject, type JsonObject, listOf } from '../../../base/json-values.ts'
import type { OpenApiOptions } from '../../../contract/bundle.ts'
import { ToolExample } from '../../../contract/tool-doc.ts'
import { checkSchema, compileSchema } from '../../../json-schema/index.ts'
import { SchemaCollector, withoutInvalid } from './closed-schema.ts'
import { annotationsOfMethod } from './method-annotations.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts'
import { isPlainJson, readOperationBody } from './operation-body.ts'
import { HttpToolInput, readOperationParameters } from './operation-parameters.ts'
import { baseUrlOfOperation, readOperationTexts, tagsOf } from './operation-texts.ts'

/** The document and the choices that its operations share. */
interface ToolSources {
  readonly document: OpenApiDocument
  readonly options: OpenApiOptions & { readonly namespace: string }
}

/** A tool made of an operation, and what of the operation it lacks. */
interface OperationTool {
  readonly tool: JsonObject
  readonly losses: readonly string[]
}

const maxOutputBytes = 16 * 1024
// A document without the URL of its service is rejected as a whole.
const unknownService = 'https://service.invalid'

/** Converts an operation to a tool; its name and category are added by the caller. */
export function toOperationTool(operation: OpenApiOperation, { document, options }: ToolSources): OperationTool {
  const collector = new SchemaCollector(document, 'readOnly')
  const input = new HttpToolInput()
  const sources = { document, collector, input }
  const parameters = readOperationParameters(operation, sources)
  const { examples: bodies, headers: bodyHeaders, losses: bodyLosses, ...body } = readOperationBody(operation, sources)
  const { schema: inputSchema, losses: schemaLosses } = closeInput(input, collector)
  const { auth, losses: authLosses } = readOperationAuth(operation, document, options)
  const base = baseUrlOfOperation(operation, document, options.baseUrl)
  const media = readOutputMedia(operation, document)
  const headers = { ...media.headers, ...parameters.headers, ...bodyHeaders }
  const tool = {
    ...readOperationTexts(operation, input.names, document),
    namespace: options.namespace,
    tags: tagsOf(operation),
    annotations: annotationsOfMethod(operation.method),
    inputSchema,
    ...(options.outputSchemas === true ? { outputSchema: readOutput(media.schema, document) } : {}),
    examples: toExamples(inputSchema, parameters.examples, bodies),
    ...(options.activate === true ? { status: operation.operation.deprecated === true ? 'DEPRECATED' : 'ACTIVE' } : {}),
    executorType: 'http',
    executorConfig: {
      method: operation.method.toUpperCase(),
      url: `${base ?? unknownService}${parameters.path}`,
      ...ifAny('headers', headers),
      ...ifAny('query', parameters.query),
      ...ifAny('styles', parameters.styles),
      ...body,
      ...(auth.length === 0 ? {} : { auth: auth.length === 1 ? auth[0] : auth }),
      ...(options.allowPrivate === true ? { allowPrivate: true } : {}),
    },
  }
  return { tool, losses: [...parameters.losses, ...bodyLosses, ...schemaLosses, ...authLosses] }
}

const ifAny = (key: string, value: JsonObject) => (Object.keys(value).length === 0 ? {} : { [key]: value })

/** The input schema with its definitions, reduced until it is valid. */
function closeInput(
  input: HttpToolInput,
  collector: SchemaCollector,
): { schema: JsonObject; losses: readonly string[] } {
  const definitions = collector.definitions()
  const missing = [...collector.missing].map((reference) =>
    reference.startsWith('#')
      ? `${reference} does not exist`
      : `${reference} is outside the document; join its files into one first`,
  )
  const reduced = definitions === undefined ? undefined : withoutInvalid(input.schema(definitions))
  if (reduced !== undefined) return { schema: reduced.schema, losses: [...missing, ...reduced.losses] }
  const shallow = withoutInvalid(input.shallowSchema())
  const loss = 'the input schema is too large, so that only the types of its parameters are kept'
  return { schema: shallow?.schema ?? { type: 'object' }, losses: [...missing, loss] }
}

/** The schema of a successful JSON response as the document has it, and the header that requests it where the type is not the usual one. */
function readOutputMedia(
  { operation }: OpenApiOperation,
  document: OpenApiDocument,
): { schema: unknown; headers: JsonObject } {
  const responses = document.object(operation.responses)
  const status = Object.keys(responses)
    .filter((code) => /^2/.test(code))
    .sort()[0]
  const content = document.object(document.object(responses[status ?? '']).content)
  const [type, media] = Object.entries(content).find(([each]) => /[/+]json\b/i.test(each)) ?? []
  if (type === undefined) return { schema: undefined, headers: {} }
  const headers = isPlainJson(type) ? {} : { accept: type }
  return { schema: document.object(media).schema, headers }
}

/** An output schema with its definitions; one that accepts everything where it is too large or invalid. */
function readOutput(declared: unknown, document: OpenApiDocument): JsonObject {
  const collector = new SchemaCollector(document, 'writeOnly')
  const schema = collector.copy(declared)
  const definitions = collector.definitions()
  const closed = isObject(schema) && definitions !== undefined ? { ...schema, ...definitions } : {}
  const isUsable = Buffer.byteLength(JSON.stringify(closed)) <= maxOutputBytes && checkSchema(closed, '').length === 0
  return isUsable ? closed : {}
}

/** The examples of the document that make a complete and valid call, and are short enough to show. */
function toExamples(
  schema: JsonObject,
  parameters: Readonly<Record<string, unknown>>,
  bodies: readonly Readonly<Record<string, unknown>>[],
): readonly JsonObject[] {
  const calls = (bodies.length === 0 ? [{}] : bodies.slice(0, 3)).map((body) => ({ ...parameters, ...body }))
  if (calls.every((call) => Object.keys(call).length === 0)) return []
  try {
    const validator = compileSchema(schema)
    const valid = calls.filter((args) => validator.validate(args).problems.length === 0)
    const examples = valid.map((args) => ({ description: 'From the OpenAPI document.', args }))
    return examples.filter((example) => ToolExample.safeParse(example).success)
  } catch {
    return []
  }
}

type Auth = Readonly<Record<string, string>>

interface AuthOptions extends Pick<OpenApiOptions, 'auth'> {
  readonly namespace: string
}

/** The authentication of an operation, and the schemes that cannot be expressed. */
interface OperationAuth {
  readonly auth: readonly Auth[]
  readonly losses: readonly string[]
}

/**
 * The authentication of an operation: the first alternative with secrets in the options, otherwise the first one. Each scheme
 * needs a secret, whose name is derived from the namespace and the scheme unless the options name one.
 */
function readOperationAuth(
  { operation }: OpenApiOperation,
  document: OpenApiDocument,
  options: AuthOptions,
): OperationAuth {
  const alternatives = listOf(operation.security ?? document.root.security).filter(isObject)
  const known = alternatives.find((each) => {
    const schemes = Object.keys(each)
    return schemes.length > 0 && schemes.every((scheme) => secretOf(scheme, options) !== undefined)
  })
  // An empty alternative makes authentication optional.
  const isOptional = alternatives.some((each) => Object.keys(each).length === 0)
  const chosen = known ?? (isOptional ? undefined : alternatives[0])
  const schemes = document.object(document.object(document.root.components).securitySchemes)
  const read = Object.keys(chosen ?? {}).map((name) => toAuth(name, document.object(schemes[name]), options))
  return {
    auth: read.flatMap(({ auth }) => (auth === undefined ? [] : [auth])),
    losses: read.flatMap(({ loss }) => (loss === undefined ? [] : [loss])),
  }
}

function secretOf(scheme: string, { auth = {} }: AuthOptions): string | undefined {
  return Object.hasOwn(auth, scheme) ? auth[scheme] : auth['*']
}

function toAuth(name: string, scheme: JsonObject, options: AuthOptions): { auth?: Auth; loss?: string } {
  const derived = `secret:${options.namespace}_${name}`.replace(/[^\w.:-]+/g, '_').slice(0, 100)
  const secret = secretOf(name, options) ?? derived
  const kind = String(scheme.type)
  if (kind === 'oauth2' || kind === 'openIdConnect') return { auth: { type: 'bearer', secret } }
  if (kind === 'http') {
    const type = String(scheme.scheme).toLowerCase()
    if (type === 'bearer' || type === 'basic') return { auth: { type, secret } }
  }
  if (kind === 'apiKey' && typeof scheme.name === 'string' && ['header', 'query', 'cookie'].includes(String(scheme.in)))
    return { auth: { type: String(scheme.in), name: scheme.name, secret } }
  return { loss: `the security scheme '${name}' (${kind}) is not supported` }
}
