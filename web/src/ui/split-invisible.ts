import { hasInvisible, showInvisible } from '../../../src/base/invisible-characters.ts'

/** A part of a text: as it is, or an invisible character written as an escape. */
export interface TextPart {
  readonly text: string
  readonly isEscape: boolean
}

/** Splits a text at characters that a person would not see, or that reorder the others. */
export function splitInvisible(text: string): readonly TextPart[] {
  if (!hasInvisible(text)) return [{ text, isEscape: false }]
  const parts: { text: string; isEscape: boolean }[] = []
  const characters = [...text]
  for (const [index, char] of characters.entries()) {
    const isEscape = hasInvisible(char) && !(char === '\r' && characters[index + 1] === '\n')
    const shown = isEscape ? showInvisible(char) : char
    const last = parts.at(-1)
    if (last !== undefined && last.isEscape === isEscape) last.text += shown
    else parts.push({ text: shown, isEscape })
  }
  return parts
}
