import { createHash } from 'node:crypto'
import { isObject } from './json-values.ts'

/** A hash of a JSON value that ignores the order of keys: a client may send the same request in any order. */
export const hashJson = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('hex')

const sortKeys = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
