import { fromPointer } from './problem.ts'

const digitsBeyond = /\d{16}/
const numbers = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Reads JSON; a whole number that cannot be kept exactly becomes a text of its digits. */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return hasLarge(text) ? JSON.parse(quoteLarge(text)) : value
}

/** Says that a text is not JSON, or that its value has nothing at a pointer. */
export interface MissingPart {
  readonly missing: 'JSON' | 'part'
}

/** The value at a pointer of a JSON text. */
export function readExactly(
  text: string,
  pointer: string,
  parse: (text: string) => unknown = parseExactly,
): { readonly value: unknown } | MissingPart {
  let held: unknown
  try {
    held = parse(text)
  } catch {
    return { missing: 'JSON' }
  }
  for (const key of fromPointer(pointer)) {
    if (typeof held !== 'object' || held === null || !Object.hasOwn(held, key)) return { missing: 'part' }
    held = (held as Record<string, unknown>)[key]
  }
  return { value: held }
}

/** Whether some number of a JSON text may be too large to be kept. */
export const hasLarge = (text: string): boolean => digitsBeyond.test(text)

/** A JSON text with quotes around the whole numbers that cannot be kept exactly; all else as it is. */
export function quoteLarge(text: string): string {
  let quoted = ''
  for (let at = 0; at < text.length; ) {
    const start = indexOr(text, at)
    quoted += text.slice(at, start).replace(numbers, (digits) => (isExact(digits) ? digits : `"${digits}"`))
    at = endOfString(text, start)
    quoted += text.slice(start, at)
  }
  return quoted
}

/** Whole numbers must be exact; others need only be finite. */
export function isExact(digits: string): boolean {
  if (digits.length < 16 && !/[eE]/.test(digits)) return true
  const value = Number(digits)
  if (!Number.isFinite(value)) return false
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(digits)) return true
  // What JSON.stringify writes of a large number can always be read back.
  return String(value) === digits || BigInt(digits) === BigInt(value)
}

function indexOr(text: string, at: number): number {
  const found = text.indexOf('"', at)
  return found < 0 ? text.length : found
}

/** One past the quote that closes a string. */
function endOfString(text: string, quote: number): number {
  for (let at = indexOr(text, quote + 1); at < text.length; at = indexOr(text, at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return text.length
}
