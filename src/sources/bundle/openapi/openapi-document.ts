import { upgrade } from '@scalar/openapi-upgrader'
import { isObject, type JsonObject } from '../../../base/json-values.ts'
import { fromPointer } from '../../../base/problem.ts'
import type { Finding } from '../../../diagnostics/finding.ts'

/** One operation of a document. */
export interface OpenApiOperation {
  readonly path: string
  readonly method: string
  readonly operation: JsonObject
  /** The item of the path, with parameters and servers that its operations share. */
  readonly item: JsonObject
}

const methods = ['get', 'put', 'post', 'delete', 'head', 'patch'] as const
const maxReferences = 50

/** A document of OpenAPI 3.0, 3.1 or Swagger 2.0, read in the form of 3.1. */
export class OpenApiDocument {
  readonly root: JsonObject

  constructor(value: JsonObject) {
    const { openapi, swagger } = value
    // The upgrade changes its input.
    this.root =
      swagger === undefined && String(openapi).startsWith('3.1') ? value : (upgrade(value, '3.1') as JsonObject)
  }

  /** The value behind any number of local references; undefined if one of them leads nowhere or outside the document. */
  resolve(value: unknown): unknown {
    let found = value
    for (let count = 0; isObject(found) && typeof found.$ref === 'string'; count++) {
      if (count > maxReferences) return undefined
      found = this.find(found.$ref)
    }
    return found
  }

  /** The same as an object, empty if it is none. */
  object(value: unknown): JsonObject {
    const found = this.resolve(value)
    return isObject(found) ? found : {}
  }

  /** The value at a reference into this document. */
  find(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined
    let found: unknown = this.root
    for (const part of fromPointer(decodePointer(reference.slice(1)))) {
      if (Array.isArray(found)) found = found[Number(part)]
      else if (isObject(found) && Object.hasOwn(found, part)) found = found[part]
      else return undefined
    }
    return found
  }

  operations(): readonly OpenApiOperation[] {
    return Object.entries(this.object(this.root.paths)).flatMap(([path, value]) => {
      const item = this.object(value)
      return methods.flatMap((method) =>
        isObject(item[method]) ? [{ path, method, operation: item[method], item }] : [],
      )
    })
  }
}

/** A reference is part of a URL, so that it may be encoded. */
function decodePointer(pointer: string): string {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}

/** The problems of a document that cannot be read at all. */
export function checkOpenApiVersion({ openapi, swagger, paths }: JsonObject): readonly Finding[] {
  if (swagger !== undefined && String(swagger) !== '2.0' && swagger !== 2)
    return [
      { path: ['swagger'], message: `Swagger ${String(swagger)} is not supported`, hint: 'use 2.0, or OpenAPI 3' },
    ]
  if (swagger === undefined && !/^3\.[012](?:\.\d+)?/.test(String(openapi)))
    return [
      {
        path: ['openapi'],
        message: `OpenAPI ${String(openapi)} is not supported`,
        hint: 'use 3.0, 3.1 or Swagger 2.0',
      },
    ]
  if (isObject(paths)) return []
  return [
    { path: ['paths'], message: 'the document has no paths', hint: 'add the operations of the service under paths' },
  ]
}
