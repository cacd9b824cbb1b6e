import * as z from 'zod'
import { operations } from '../../operations/index.ts'
import type { HttpRoute, Operation } from '../../operations/operation.ts'

/** An operation with a route. */
export type RoutedOperation = Operation<z.ZodType, z.ZodType> & { readonly http: HttpRoute }

const weight = (path: string): number =>
  path.split('/').reduce((sum, part) => sum * 2 + (part.startsWith('{') ? 1 : 0), 0)

/** All operations with a route; fixed paths precede those with parameters, so that none is shadowed. */
export const routes: readonly RoutedOperation[] = (operations as readonly Operation<z.ZodType, z.ZodType>[])
  .filter((operation): operation is RoutedOperation => operation.http !== undefined)
  .sort((a, b) => weight(a.http.path) - weight(b.http.path))

/** The parameters in a path. */
export const namesIn = (path: string): readonly string[] =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)

/** The base path of the operations. */
export const apiBase = '/api/v1'

/** Whether an operation takes its input from the body rather than from the query. */
export const hasBody = ({ http: { method } }: RoutedOperation): boolean => method !== 'get' && method !== 'delete'

/** Whether a response may be stored for repetition; responses with a secret are never stored. */
export const isKeepable = (operation: RoutedOperation): boolean =>
  operation.http.method === 'post' && !hasOwnKey(operation) && !hasField(operation.output, 'secret')

/** Whether an operation handles the idempotency key itself. */
export const hasOwnKey = ({ input }: RoutedOperation): boolean => hasField(input, 'idempotencyKey')

const hasField = (schema: z.ZodType, field: string): boolean => schema instanceof z.ZodObject && field in schema.shape
