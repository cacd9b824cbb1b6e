/** A longer JSON text is neither read nor written by the main thread: it stays a text. */
export const maxParsedHere = 64 * 1024

/** A large JSON value as its text; worker threads read it, the main thread only passes it on. */
export class JsonText {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

/** The value of a JSON text where it is short, otherwise the text itself. */
export const fromJsonText = (json: string): unknown =>
  json.length > maxParsedHere ? new JsonText(json) : JSON.parse(json)
