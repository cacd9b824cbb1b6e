import { hasInvisible } from '../base/invisible-characters.ts'

// A run of variation selectors can encode a hidden text; a single one belongs to an emoji.
// The catalog shows hidden characters of sources as escapes.
const escapes = /\\u\{[0-9a-f]{2,6}\}/
const selectors = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{3}/u

/** Texts that try to direct a model beyond the use of their own tool. */
const steering: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|above|earlier|other|system)\s+(?:instructions?|prompts?|rules|tools?|messages?)/i,
    'asks to ignore other instructions',
  ],
  [
    /<\/?(?:important|system|instructions?|secret|assistant)>|<\|im_(?:start|end)\|>|\[\/?inst\]/i,
    'imitates markup of prompts',
  ],
  [
    /\b(?:do not|don't|never|without)\s+(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying|show|showing)\b[^.]{0,40}\buser\b/i,
    'asks to hide something from the user',
  ],
  [
    /(?:~\/\.ssh|\bid_(?:rsa|ed25519)\b|\.aws\/credentials|\/etc\/(?:passwd|shadow)|\bmcp\.json\b|\bclaude_desktop_config\b|\.netrc\b)/i,
    'names files with credentials',
  ],
  [
    /\b(?:before|after|instead of|when(?:ever)?)\s+(?:using|calling|invoking)\s+(?:(?:any|all|every)\s+(?:other\s+)?|(?:the\s+)?other\s+)tools?\b/i,
    'steers the use of other tools',
  ],
  [
    /\b(?:always|must)\s+(?:be\s+)?(?:use|call|prefer|called|used)\b[^.]{0,40}\b(?:before|instead of)\s+(?:any|all|every|(?:the\s+)?other)\b/i,
    'steers the use of other tools',
  ],
]

/** The reasons why a text may be an attack on its reader; heuristics, which never reject a text by themselves. */
export function findSuspicious(text: string): readonly string[] {
  const reasons = steering.flatMap(([pattern, reason]) => (pattern.test(text) ? [reason] : []))
  const hidden = hasInvisible(text) || selectors.test(text) || escapes.test(text) ? ['has hidden characters'] : []
  return [...new Set([...hidden, ...reasons])]
}

const maxCharacters = 200_000

/** The reasons for all texts of a JSON value, keys included, each with the location of its first occurrence. */
export const findSuspiciousIn = (value: unknown): readonly string[] =>
  findSuspiciousTexts(value, findSuspicious, maxCharacters)

/** The findings in all texts of a JSON value, up to a number of characters. */
export function findSuspiciousTexts(
  value: unknown,
  find: (text: string) => readonly string[],
  maxCharacters: number,
): readonly string[] {
  const found = new Map<string, string>()
  let left = maxCharacters
  const visit = (each: unknown, path: string): void => {
    if (left <= 0) return
    if (typeof each === 'string') {
      for (const reason of find(each.slice(0, left))) if (!found.has(reason)) found.set(reason, path)
      left -= each.length
      return
    }
    if (typeof each !== 'object' || each === null) return
    for (const [key, inner] of Object.entries(each)) {
      if (!Array.isArray(each)) visit(key, path)
      visit(inner, Array.isArray(each) || path.split('.').length > 6 ? path : path === '' ? key : `${path}.${key}`)
    }
  }
  visit(value, '')
  return Array.from(
    found,
    ([reason, path]) => `${path === '' ? 'it' : path.replaceAll(/[^\w.-]/g, '?').slice(0, 100)} ${reason}`,
  )
}
