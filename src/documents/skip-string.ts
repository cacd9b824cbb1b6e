import type { JsonFault } from './scan-json.ts'

/** The offset after the JSON string that starts at a quote, or its fault: invalid, or impossible to store. */
export function skipString(text: string, quote: number): number | JsonFault {
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
