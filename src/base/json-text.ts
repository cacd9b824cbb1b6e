import { createHash } from 'node:crypto'
import { isObject } from './json-values.ts'
/** A longer JSON text is neither parsed nor serialized on the main thread. */
export const maxParsedHere = 64 * 1024

/** A large JSON value as its text; worker threads parse it, the main thread only forwards it. */
export class JsonText {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

/** The value of a short JSON text; a long one stays a `JsonText`. */
export const fromJsonText = (json: string): unknown =>
  json.length > maxParsedHere ? new JsonText(json) : JSON.parse(json)

/** A hash of a JSON value that ignores the order of keys: a client may send the same request in any order. */
export const hashJson = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('hex')

const sortKeys = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
