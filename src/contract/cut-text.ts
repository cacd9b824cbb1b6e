import { docLimits, type ToolExample } from './tool-doc.ts'

// A character as a reader sees it may take many units; past this many it is not worth keeping whole.
const maxCharacterBytes = 64

/** The text in `most` units of UTF-16 at most, cut between characters as a reader sees them. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  if (isPlain(text, most - 1) && isPlain(text, most)) return text.slice(0, most)
  const head = text.slice(0, most + maxCharacterBytes)
  const start = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(head).containing(most)?.index ?? 0
  if (most - start < maxCharacterBytes && start > 0) return text.slice(0, start)
  return text.slice(0, splitsPair(text, most) ? most - 1 : most)
}

/** Printable ASCII never joins with its neighbours of the same kind. */
function isPlain(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0x20 && unit < 0x7f
}

function splitsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff
}

/** An example whose texts are as long as a reader is shown. */
export function cutExample({ title, description, args, resultHint }: ToolExample): ToolExample {
  return {
    ...(title === undefined ? {} : { title: cutText(title, docLimits.exampleTitle) }),
    description: cutText(description, docLimits.exampleDescription),
    ...(args === undefined ? {} : { args }),
    ...(resultHint === undefined ? {} : { resultHint: cutText(resultHint, docLimits.exampleResultHint) }),
  }
}
