import type { JsonObject } from '../../../base/json-values.ts'

/** The annotations of a tool by the HTTP method of its operation. */
export function annotationsOfMethod(method: string): JsonObject {
  const isRead = method === 'get' || method === 'head'
  return {
    readOnlyHint: isRead,
    ...(isRead ? {} : { destructiveHint: method === 'delete' || method === 'put' || method === 'patch' }),
    idempotentHint: isRead || method === 'put' || method === 'delete',
    openWorldHint: true,
  }
}
