import * as z from 'zod'
import { operations } from '../../operations/index.ts'
import type { HttpRoute, Operation } from '../../operations/operation.ts'

/** An operation that can be reached over HTTP. */
export type RoutedOperation = Operation<z.ZodType, z.ZodType> & { readonly http: HttpRoute }

const weight = (path: string): number =>
  path.split('/').reduce((sum, part) => sum * 2 + (part.startsWith('{') ? 1 : 0), 0)

/** Everything that can be reached over HTTP; fixed addresses before those with names in them, so that none is hidden. */
export const routes: readonly RoutedOperation[] = (operations as readonly Operation<z.ZodType, z.ZodType>[])
  .filter((operation): operation is RoutedOperation => operation.http !== undefined)
  .sort((a, b) => weight(a.http.path) - weight(b.http.path))

/** The names in an address. */
export const namesIn = (path: string): readonly string[] =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)

/** Below what the operations are. */
export const apiBase = '/api/v1'

/** Whether an operation takes its input from the body rather than from the query. */
export const hasBody = ({ http: { method } }: RoutedOperation): boolean => method !== 'get' && method !== 'delete'

/** Whether an answer may be kept to be given again: one with a secret in it is shown once and kept nowhere. */
export const isKeepable = (operation: RoutedOperation): boolean =>
  operation.http.method === 'post' && !hasOwnKey(operation) && !shows(operation.output, 'secret')

/** Whether an operation itself makes the same call once; then the key is for it to keep. */
export const hasOwnKey = ({ input }: RoutedOperation): boolean => shows(input, 'idempotencyKey')

const shows = (schema: z.ZodType, field: string): boolean => schema instanceof z.ZodObject && field in schema.shape
