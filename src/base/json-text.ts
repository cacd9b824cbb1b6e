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
