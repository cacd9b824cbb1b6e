import { isExactNumber } from '../base/exact-numbers.ts'

/** The first error of a JSON text, with its offset. */
export interface JsonFault {
  readonly at: number
  readonly message: string
  readonly hint?: string
  /** Whether the text is well-formed so far, but has too many values. */
  readonly tooLarge?: true
}

// The token that may come next.
type Next = 'value' | 'value or end' | 'key' | 'key or end' | 'comma or end' | 'nothing'

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const blank = /[ \t\n\r]*/y

/** Scans a JSON text once, without recursion, for errors that JSON.parse accepts or reports without a clear message. */
export function scanJson(text: string, maxDepth: number, maxValues = Number.POSITIVE_INFINITY): JsonFault | undefined {
  return new Scan(text, maxDepth, maxValues).run()
}

class Scan {
  readonly #text: string
  readonly #maxDepth: number
  // The keys of each open object; null for an open array.
  readonly #open: (Set<string> | null)[] = []
  readonly #maxValues: number
  #values = 0
  #at = 0
  #next: Next = 'value'

  constructor(text: string, maxDepth: number, maxValues: number) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#maxValues = maxValues
  }

  run(): JsonFault | undefined {
    for (;;) {
      this.#skipBlank()
      if (this.#at >= this.#text.length) {
        return this.#next === 'nothing' ? undefined : this.#fault('unexpected end')
      }
      const fault = this.#step(this.#text.charCodeAt(this.#at))
      if (fault !== undefined) return fault
    }
  }

  #step(code: number): JsonFault | undefined {
    const next = this.#next
    if (next === 'nothing') return this.#fault('unexpected text after the value')
    if (next === 'comma or end') return this.#separate(code)
    if (next === 'key' || next === 'key or end') {
      if (code === 0x22) return this.#key()
      return next === 'key or end' && code === 0x7d ? this.#close() : this.#fault('a key in double quotes is missing')
    }
    if (next === 'value or end' && code === 0x5d) return this.#close()
    return this.#value(code)
  }

  #value(code: number): JsonFault | undefined {
    if (++this.#values > this.#maxValues)
      return { at: this.#at, message: `it has more than ${this.#maxValues} values`, tooLarge: true }
    if (code === 0x22) return this.#string()
    if (code === 0x7b || code === 0x5b) return this.#openPart(code === 0x7b)
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.#number()
    for (const word of ['true', 'false', 'null']) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length
        return this.#ended()
      }
    }
    return this.#fault('a value is missing')
  }

  #openPart(isObject: boolean): JsonFault | undefined {
    if (this.#open.length >= this.#maxDepth) return this.#fault(`it nests deeper than ${this.#maxDepth} levels`)
    this.#open.push(isObject ? new Set() : null)
    this.#next = isObject ? 'key or end' : 'value or end'
    this.#at++
    return undefined
  }

  #close(): undefined {
    this.#open.pop()
    this.#at++
    return this.#ended()
  }

  #ended(): undefined {
    this.#next = this.#open.length === 0 ? 'nothing' : 'comma or end'
  }

  #separate(code: number): JsonFault | undefined {
    const isObject = this.#open.at(-1) !== null
    if (code === (isObject ? 0x7d : 0x5d)) return this.#close()
    if (code !== 0x2c) return this.#fault(`a comma or ${isObject ? '}' : ']'} is missing`)
    this.#at++
    this.#next = isObject ? 'key' : 'value'
    return undefined
  }

  #key(): JsonFault | undefined {
    const start = this.#at
    const fault = this.#string()
    if (fault !== undefined) return fault
    const raw = this.#text.slice(start, this.#at)
    const key = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1)
    const keys = this.#open.at(-1)
    if (keys?.has(key)) {
      const quoted = JSON.stringify(key.length > 100 ? `${key.slice(0, 99)}…` : key)
      return { at: start, message: `duplicate key ${quoted}`, hint: 'Remove one of them.' }
    }
    keys?.add(key)
    this.#skipBlank()
    if (this.#text.charCodeAt(this.#at) !== 0x3a) return this.#fault('a colon is missing')
    this.#at++
    this.#next = 'value'
    return undefined
  }

  #string(): JsonFault | undefined {
    const end = skipString(this.#text, this.#at)
    if (typeof end !== 'number') return end
    this.#at = end
    return this.#ended()
  }

  #number(): JsonFault | undefined {
    number.lastIndex = this.#at
    const found = number.exec(this.#text)?.[0]
    if (found === undefined) return this.#fault('a number is malformed')
    if (!isExactNumber(found))
      return this.#fault(`the number ${found.slice(0, 40)} cannot be represented exactly`, 'Write it as a string.')
    this.#at += found.length
    return this.#ended()
  }

  #skipBlank(): void {
    const code = this.#text.charCodeAt(this.#at)
    if (code > 0x20) return
    blank.lastIndex = this.#at
    this.#at += blank.exec(this.#text)?.[0].length ?? 0
  }

  #fault(message: string, hint?: string): JsonFault {
    return { at: this.#at, message, ...(hint === undefined ? {} : { hint }) }
  }
}

/** The offset after the JSON string that starts at a quote, or its fault: invalid, or impossible to store. */
function skipString(text: string, quote: number): number | JsonFault {
  for (let at = quote + 1; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code >= 0x20 && code !== 0x5c && !isSurrogate(code)) {
      at++
      continue
    }
    const end = skipSuspect(text, at)
    if (typeof end !== 'number') return end
    at = end
  }
  return { at: quote, message: 'a string is not closed' }
}

function skipSuspect(text: string, at: number): number | JsonFault {
  const unit = readUnit(text, at)
  if (typeof unit === 'string') return { at, message: unit }
  if (unit.code === 0) return { at, message: 'a string contains U+0000, which cannot be stored' }
  if (!isSurrogate(unit.code)) return unit.end
  const low = unit.code < 0xdc00 ? readUnit(text, unit.end) : undefined
  if (typeof low === 'object' && low.code >= 0xdc00 && low.code <= 0xdfff) return low.end
  return { at, message: 'a string contains a lone surrogate' }
}

const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff

interface Unit {
  readonly code: number
  readonly end: number
}

/** One UTF-16 unit, escaped or not, or the message of an error. */
function readUnit(text: string, at: number): Unit | string {
  const code = text.charCodeAt(at)
  if (code < 0x20) return 'a string contains an unescaped control character'
  if (code !== 0x5c) return { code, end: at + 1 }
  const letter = text.charAt(at + 1)
  // The characters of these escapes are always valid.
  if (letter !== 'u' && '"\\/bfnrt'.includes(letter) && letter !== '') return { code: 0x20, end: at + 2 }
  const digits = text.slice(at + 2, at + 6)
  if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) return 'a string contains an invalid escape sequence'
  return { code: Number.parseInt(digits, 16), end: at + 6 }
}
