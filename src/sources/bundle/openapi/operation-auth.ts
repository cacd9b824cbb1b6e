import { isObject, type JsonObject, listOf } from '../../../base/json-values.ts'
import type { OpenApiOptions } from '../../../contract/bundle.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts'

type Auth = Readonly<Record<string, string>>

interface AuthOptions extends Pick<OpenApiOptions, 'auth'> {
  readonly namespace: string
}

/** The authentication of an operation, and the schemes that cannot be expressed. */
export interface OperationAuth {
  readonly auth: readonly Auth[]
  readonly losses: readonly string[]
}

/**
 * The authentication of an operation: the first alternative with secrets in the options, otherwise the first one. Each scheme
 * needs a secret, whose name is derived from the namespace and the scheme unless the options name one.
 */
export function readOperationAuth(
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
