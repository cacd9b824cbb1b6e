import { cutText } from '../contract/cut-text.ts'

/** How long one tag, and how many of a tool, may be. */
const tagLimits = { length: 64, count: 20 } as const

/** Tags in one spelling: lower case, blanks as '-', letters and digits of any script, none twice, in their order. */
export function normalizeTags(tags: readonly string[]): string[] {
  const kept = new Set<string>()
  for (const tag of tags) {
    if (kept.size === tagLimits.count) break
    const normal = normalizeTag(tag)
    if (normal !== '') kept.add(normal)
  }
  return [...kept]
}

function normalizeTag(tag: string): string {
  const dashed = tag.toLowerCase().normalize('NFC').trim().replace(/\s+/gu, '-')
  // Many scripts write vowels as marks on a letter: they stay with it, and alone they are nothing.
  const letters = dashed.match(/[\p{L}\p{N}]\p{M}*|[-_.]/gu) ?? []
  return cutText(letters.join(''), tagLimits.length)
}
