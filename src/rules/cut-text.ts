import { docLimits, type ToolExample } from '../contract/tool-doc.ts'

// A grapheme can have any number of units; a longer one than this may be split.
const maxCharacterBytes = 64

/** Cuts a text to at most `max` UTF-16 units, between graphemes. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  if (isPlain(text, max - 1) && isPlain(text, max)) return text.slice(0, max)
  const head = text.slice(0, max + maxCharacterBytes)
  const start = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(head).containing(max)?.index ?? 0
  if (max - start < maxCharacterBytes && start > 0) return text.slice(0, start)
  return text.slice(0, splitsPair(text, max) ? max - 1 : max)
}

/** Cuts a text to at most `max` UTF-16 units at the end of a word, if one is in its second half, and marks the cut with an ellipsis. */
export function cutLine(text: string, max: number): string {
  if (text.length <= max) return text
  const head = cutText(text, max - 1)
  const space = /\s/.test(text.charAt(head.length)) ? head.length : head.lastIndexOf(' ')
  return `${head.slice(0, space > max / 2 ? space : head.length).trimEnd()}…`
}

/** Printable ASCII never forms a grapheme with its printable ASCII neighbors. */
function isPlain(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0x20 && unit < 0x7f
}

function splitsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff
}

/** Cuts the texts of an example to their display limits. */
export function cutExample({ title, description, args, resultHint }: ToolExample): ToolExample {
  return {
    ...(title === undefined ? {} : { title: cutText(title, docLimits.exampleTitle) }),
    description: cutText(description, docLimits.exampleDescription),
    ...(args === undefined ? {} : { args }),
    ...(resultHint === undefined ? {} : { resultHint: cutText(resultHint, docLimits.exampleResultHint) }),
  }
}
