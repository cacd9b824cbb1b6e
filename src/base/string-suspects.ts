import type { JsonFault } from './scan-json.ts'

const suspect = /[\u0000-\u001f\\\ud800-\udfff]/g

/** Finds what makes the strings of a JSON text wrong or impossible to store; asked from its start to its end. */
export class StringSuspects {
  readonly #text: string
  // Where the next character to look at is: most strings have none, and must not be searched past their end again.
  #next = -1

  constructor(text: string) {
    this.#text = text
  }

  /** What is wrong inside the string between two places. */
  find(from: number, to: number): JsonFault | undefined {
    if (this.#next < from) this.#seek(from)
    while (this.#next < to) {
      const fault = this.#look(this.#next, to)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  #look(at: number, to: number): JsonFault | undefined {
    const unit = readUnit(this.#text, at)
    if (typeof unit === 'string') return { at, message: unit }
    if (unit.code === 0) return { at, message: 'a text has the character U+0000, which cannot be kept' }
    let { end } = unit
    if (isSurrogate(unit.code)) {
      const low = unit.code < 0xdc00 && end < to ? readUnit(this.#text, end) : undefined
      if (typeof low !== 'object' || low.code < 0xdc00 || low.code > 0xdfff) {
        return { at, message: 'a text has half a character (a lone surrogate)' }
      }
      end = low.end
    }
    this.#seek(end)
    return undefined
  }

  #seek(from: number): void {
    if (this.#text.charCodeAt(from) === 0x5c) {
      this.#next = from
      return
    }
    suspect.lastIndex = from
    this.#next = suspect.exec(this.#text)?.index ?? Number.POSITIVE_INFINITY
  }
}

const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff

interface Unit {
  readonly code: number
  readonly end: number
}

/** One UTF-16 unit, escaped or not; or what is wrong with it. */
function readUnit(text: string, at: number): Unit | string {
  const code = text.charCodeAt(at)
  if (code < 0x20) return 'a text has a control character that is not escaped'
  if (code !== 0x5c) return { code, end: at + 1 }
  const letter = text.charAt(at + 1)
  // These stand for characters that are always fine.
  if (letter !== 'u' && '"\\/bfnrt'.includes(letter) && letter !== '') return { code: 0x20, end: at + 2 }
  const digits = text.slice(at + 2, at + 6)
  if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) return 'a backslash in a text escapes nothing'
  return { code: Number.parseInt(digits, 16), end: at + 6 }
}
