import { structuredPatch } from 'diff'

// Texts with more changed lines are not compared further; the time grows with the square of this number.
const maxChangedLines = 300

/** The changed lines of two texts: ` ` unchanged, `-` removed, `+` added, with a few lines of context. */
export function lineDiff(before: string, after: string, context = 3): readonly string[] {
  const options = { context, maxEditLength: maxChangedLines }
  const patch = structuredPatch('', '', endLine(before), endLine(after), undefined, undefined, options)
  if (patch === undefined) return [...markLines(before, '-'), ...markLines(after, '+')]
  const { hunks } = patch
  // One hunk needs no line numbers.
  if (hunks.length === 1) return hunks[0]?.lines ?? []
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ])
}

const endLine = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

const markLines = (text: string, mark: string) =>
  text === ''
    ? []
    : endLine(text)
        .slice(0, -1)
        .split('\n')
        .map((line) => mark + line)
