import { fromPointer } from './problem.ts'

const digitsBeyond = /\d{16}/
const numbers = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Parses JSON; an integer that cannot be represented exactly becomes a string of its digits. */
export function parseExactNumbers(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return hasLarge(text) ? JSON.parse(quoteLargeNumbers(text)) : value
}

/** The text is not JSON, or its value has nothing at the pointer. */
export interface MissingPart {
  readonly missing: 'JSON' | 'part'
}

/** The value at a pointer of a JSON text. */
export function readExactNumber(
  text: string,
  pointer: string,
  parse: (text: string) => unknown = parseExactNumbers,
): { readonly value: unknown } | MissingPart {
  let current: unknown
  try {
    current = parse(text)
  } catch {
    return { missing: 'JSON' }
  }
  for (const key of fromPointer(pointer)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return { missing: 'part' }
    current = (current as Record<string, unknown>)[key]
  }
  return { value: current }
}

/** Whether a JSON text may contain a number that is too large to be exact. */
export const hasLarge = (text: string): boolean => digitsBeyond.test(text)

/** A JSON text with quotes around the integers that cannot be represented exactly; the rest is unchanged. */
export function quoteLargeNumbers(text: string): string {
  let quoted = ''
  for (let at = 0; at < text.length; ) {
    const start = indexOr(text, at)
    quoted += text.slice(at, start).replace(numbers, (digits) => (isExactNumber(digits) ? digits : `"${digits}"`))
    at = endOfString(text, start)
    quoted += text.slice(start, at)
  }
  return quoted
}

/** Integers must be exact; other numbers need only be finite. */
export function isExactNumber(digits: string): boolean {
  if (digits.length < 16 && !/[eE]/.test(digits)) return true
  const value = Number(digits)
  if (!Number.isFinite(value)) return false
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(digits)) return true
  // The output of JSON.stringify for a large number can always be read back.
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
