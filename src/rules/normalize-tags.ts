import { cutText } from './cut-text.ts'

/** The maximum length of a tag, and the maximum number of tags of a tool. */
const tagLimits = { length: 64, count: 20 } as const

/** Tags in canonical form: lower case, blanks as '-', letters and digits of any script, unique, in their order. */
export function normalizeTags(tags: readonly string[]): string[] {
  const normalized = new Set<string>()
  for (const tag of tags) {
    if (normalized.size === tagLimits.count) break
    const normal = normalizeTag(tag)
    if (normal !== '') normalized.add(normal)
  }
  return [...normalized]
}

function normalizeTag(tag: string): string {
  const dashed = tag.toLowerCase().normalize('NFC').trim().replace(/\s+/gu, '-')
  // Many scripts write vowels as combining marks: they are kept after a letter, and dropped alone.
  const letters = dashed.match(/[\p{L}\p{N}]\p{M}*|[-_.]/gu) ?? []
  return cutText(letters.join(''), tagLimits.length)
}
