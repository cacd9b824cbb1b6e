import { isObject, type JsonObject, textsOf } from '../../../base/json-values.ts'
import type { SchemaCollector } from './closed-schema.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts'
import { examplesOfParameter, type HttpToolInput, withSchemaSentence } from './operation-parameters.ts'

/** The parts of a request that come from its body. */
interface BodyParts {
  readonly body?: unknown
  readonly bodyType?: Exclude<MediaKind, 'text'>
  readonly files?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** The values of examples, by the names of the input. */
  readonly examples: readonly Readonly<Record<string, unknown>>[]
}

interface Sources {
  readonly document: OpenApiDocument
  readonly collector: SchemaCollector
  readonly input: HttpToolInput
}

interface Media {
  readonly type: string
  readonly content: JsonObject
  readonly kind: MediaKind
}

type MediaKind = 'json' | 'form' | 'multipart' | 'text' | 'binary'
const preferred: readonly MediaKind[] = ['json', 'form', 'multipart', 'text', 'binary']

/** Adds the body of an operation to the input: field by field where it is a plain object, otherwise as one parameter. */
export function readOperationBody(
  { operation, method }: OpenApiOperation,
  sources: Sources,
): BodyParts & { readonly losses: readonly string[] } {
  const { document } = sources
  const declared = document.object(operation.requestBody)
  const media = chooseMedia(declared, document)
  if (media === undefined) return { examples: [], losses: [] }
  const fields = media.kind === 'text' || media.kind === 'binary' ? undefined : fieldsOf(media.content.schema, document)
  if (method === 'get' || method === 'head') {
    // Some generators give every operation an empty body.
    const { properties = {} } = document.object(media.content.schema)
    const isEmpty = fields === undefined && isObject(properties) && Object.keys(properties).length === 0
    return {
      examples: [],
      losses: isEmpty ? [] : [`a ${method.toUpperCase()} request has no body, so that it is left out`],
    }
  }
  const required = declared.required === true
  const parts =
    fields === undefined
      ? wholeBody(media, { required, description: declared.description }, sources)
      : fieldBody(media, { ...fields, required: required ? fields.required : [] }, sources)
  return { ...parts, losses: [] }
}

function chooseMedia({ content }: JsonObject, document: OpenApiDocument): Media | undefined {
  if (!isObject(content)) return undefined
  const all = Object.entries(content).map(([type, value]) => ({
    type,
    content: document.object(value),
    kind: kindOf(type),
  }))
  const ofKind = preferred.map((kind) => all.filter((media) => media.kind === kind)).find((media) => media.length > 0)
  return ofKind?.sort((a, b) => jsonOrder(a) - jsonOrder(b))[0]
}

/** A patch as a part of the object is what the schema describes and a model writes; a list of steps comes last. */
function jsonOrder({ type }: Media): number {
  if (isPlainJson(type)) return 0
  if (/merge-patch\+json/i.test(type)) return 1
  return /json-patch\+json/i.test(type) ? 3 : 2
}

/** Whether a media type is the one that is sent and accepted unless another one is stated. */
export const isPlainJson = (type: string): boolean => /^application\/json\s*(?:;|$)/i.test(type)

function kindOf(type: string): MediaKind {
  if (/[/+]json\b|^\*\/\*$/i.test(type)) return 'json'
  if (/^application\/x-www-form-urlencoded/i.test(type)) return 'form'
  if (/^multipart\//i.test(type)) return 'multipart'
  return /^text\/|[/+](?:xml|yaml)\b|javascript|graphql/i.test(type) ? 'text' : 'binary'
}

/** The properties of a plain object, also behind references and `allOf`. */
interface Fields {
  readonly properties: ReadonlyMap<string, unknown>
  readonly required: readonly string[]
}

const maxDepth = 20

/** The fields of a schema whose values can stand beside other parameters; undefined for any other schema. */
function fieldsOf(schema: unknown, document: OpenApiDocument, depth = 0): Fields | undefined {
  const own = document.object(schema)
  const { properties, additionalProperties, allOf, type } = own
  const isOther = ['oneOf', 'anyOf', 'not', 'if', 'patternProperties', '$dynamicRef'].some(
    (key) => own[key] !== undefined,
  )
  if (isOther || isObject(additionalProperties) || additionalProperties === true || depth > maxDepth) return undefined
  if ([type].flat().some((each) => each !== undefined && each !== 'object')) return undefined
  const inherited = Array.isArray(allOf) ? allOf.map((part) => fieldsOf(part, document, depth + 1)) : []
  if (inherited.some((part) => part === undefined)) return undefined
  const found = new Map([
    ...inherited.flatMap((part) => [...(part?.properties ?? [])]),
    ...Object.entries(isObject(properties) ? properties : {}),
  ])
  const visible = [...found].filter(([, property]) => document.object(property).readOnly !== true)
  if (visible.length === 0) return undefined
  const required = [...inherited.flatMap((part) => part?.required ?? []), ...textsOf(own.required)]
  return { properties: new Map(visible), required: [...new Set(required)] }
}

function fieldBody(media: Media, { properties, required }: Fields, { document, collector, input }: Sources): BodyParts {
  const body: Record<string, string> = {}
  const names = new Map<string, string>()
  const files: string[] = []
  for (const [name, property] of properties) {
    const isFile = media.kind === 'multipart' && isBinary(itemOf(document.object(property), document))
    const copied = isFile ? asBase64(document.object(property)) : collector.copy(property)
    const safe = input.add(name, copied, { required: required.includes(name), suffix: 'body' })
    body[name] = `{${safe}}`
    names.set(name, safe)
    if (isFile) files.push(name)
  }
  return {
    body,
    ...encodingOf(media),
    ...(files.length === 0 ? {} : { files }),
    examples: examplesOfParameter(media.content, document)
      .filter(isObject)
      .map((example) => renamed(example, names)),
  }
}

const itemOf = (schema: JsonObject, document: OpenApiDocument): JsonObject =>
  schema.type === 'array' ? document.object(schema.items) : schema

/** Documents of 3.0 write the format, later ones the media type of the content. */
const isBinary = ({ format, contentMediaType, contentEncoding }: JsonObject): boolean =>
  format === 'binary' || (contentMediaType !== undefined && contentEncoding === undefined)

function asBase64({ type, description }: JsonObject): JsonObject {
  const content = { type: 'string', contentEncoding: 'base64' }
  return withSchemaSentence(
    type === 'array' ? { type: 'array', items: content } : content,
    description,
    'The content as base64.',
  )
}

function renamed(example: JsonObject, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const known = Object.entries(example).filter(([name]) => names.has(name))
  return Object.fromEntries(known.map(([name, value]) => [names.get(name) ?? name, value]))
}

interface WholeBody {
  readonly required: boolean
  readonly description: unknown
}

function wholeBody(
  media: Media,
  { required, description }: WholeBody,
  { document, collector, input }: Sources,
): BodyParts {
  const schema =
    media.kind === 'binary'
      ? asBase64({})
      : media.kind === 'text'
        ? { type: 'string' }
        : collector.copy(media.content.schema)
  const about = media.kind === 'text' ? `The body as ${media.type}.` : undefined
  const safe = input.add('body', withSchemaSentence(schema, description, about), { required, suffix: 'body' })
  const examples =
    media.kind === 'binary' ? [] : examplesOfParameter(media.content, document).map((value) => ({ [safe]: value }))
  // A string would otherwise be sent as it is.
  const json = media.kind === 'json' ? { bodyType: media.kind } : {}
  return { body: `{${safe}}`, ...json, ...encodingOf(media), examples }
}

/** The encoding of the body, and its content type where the encoding does not imply it. */
function encodingOf({ kind, type }: Media): Pick<BodyParts, 'bodyType' | 'headers'> {
  if (kind === 'form' || kind === 'multipart') return { bodyType: kind }
  const isImplied = kind === 'json' && (isPlainJson(type) || type.startsWith('*/*'))
  const headers = isImplied || type.includes('*') ? {} : { headers: { 'content-type': type } }
  return { ...(kind === 'binary' ? { bodyType: kind } : {}), ...headers }
}
