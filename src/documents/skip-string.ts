import type { JsonFault } from './scan-json.ts'

/** Where the JSON string that starts at a quote has ended, or what makes it wrong or impossible to store. */
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
  return { at: quote, message: 'a text is not closed' }
}

function skipSuspect(text: string, at: number): number | JsonFault {
  const unit = readUnit(text, at)
  if (typeof unit === 'string') return { at, message: unit }
  if (unit.code === 0) return { at, message: 'a text has the character U+0000, which cannot be kept' }
  if (!isSurrogate(unit.code)) return unit.end
  const low = unit.code < 0xdc00 ? readUnit(text, unit.end) : undefined
  if (typeof low === 'object' && low.code >= 0xdc00 && low.code <= 0xdfff) return low.end
  return { at, message: 'a text has half a character (a lone surrogate)' }
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
