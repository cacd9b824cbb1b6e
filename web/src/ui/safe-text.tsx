import { useState } from 'react'
import { splitInvisible } from './split-invisible.ts'

interface SafeTextProps {
  readonly children: string
  /** The number of characters shown before "Show all". */
  readonly max?: number
  /** Whether the rest of a long text is left out, because it is shown elsewhere; short ones, as in links and buttons, are. */
  readonly isExcerpt?: boolean
}

/** Shows a text of a tool or a server: control and bidi characters as escapes, long texts cut. It is never markup. */
export function SafeText({ children: text, max = 4000, isExcerpt = max <= 200 }: SafeTextProps) {
  const [shown, setShown] = useState(max)
  const parts = splitInvisible(text.slice(0, shown))
  return (
    <>
      {parts.map((part, index) =>
        part.isEscape ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other identity
          <span key={index} title="invisible character" className="rounded-xs bg-warn-soft px-0.5 font-mono text-warn">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
      {text.length > shown && isExcerpt && '…'}
      {text.length > shown && !isExcerpt && (
        <button type="button" className="ml-1 text-accent underline" onClick={() => setShown(shown + 100_000)}>
          … show {(text.length - shown).toLocaleString('en')} more characters
        </button>
      )}
    </>
  )
}
