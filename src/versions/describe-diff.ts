import { structuredPatch } from 'diff'
import { showInvisible, toOneLine } from '../base/invisible-characters.ts'
import { changeClasses, type FieldChange, type ToolDiff } from '../contract/tool-diff.ts'
import { showChange } from './schema-path.ts'

/** Maximum output for one field. */
const limits = { changes: 10, lines: 20 }

/** The diff as a short text for people, the worst first. */
export function describeDiff(diff: ToolDiff): string {
  if (diff.class === 'none') return 'nothing changed'
  const heading = `${diff.class}: ${diff.fields.length} ${diff.fields.length === 1 ? 'field' : 'fields'} changed`
  return [heading, ...worstFirst(diff.fields).flatMap(describeField)].join('\n')
}

function describeField({ field, class: name, before, after, changes, text }: FieldChange): readonly string[] {
  const heading = `${field} (${name})`
  if (changes !== undefined) {
    const lines = worstFirst(changes).map((change) => `  ${change.class}: ${toOneLine(change.message)}`)
    return [heading, ...cutLines(lines, limits.changes)]
  }
  if (text !== undefined) {
    const lines = text.split('\n').map((line) => `  ${showInvisible(line).replaceAll('\r', '\\r')}`)
    return [heading, ...cutLines(lines, limits.lines)]
  }
  return [heading, `  ${showChange(before, after)}`]
}

function cutLines(lines: readonly string[], count: number): readonly string[] {
  return lines.length <= count ? lines : [...lines.slice(0, count), `  and ${lines.length - count} more`]
}

function worstFirst<T extends { readonly class: FieldChange['class'] }>(parts: readonly T[]): readonly T[] {
  return parts.toSorted((a, b) => changeClasses.indexOf(b.class) - changeClasses.indexOf(a.class))
}

// Texts with more changed lines are not compared further; the time grows with the square of this number.
const maxChangedLines = 300

/** The changed lines of two texts: ` ` unchanged, `-` removed, `+` added, with a few lines of context. */
export function diffLines(before: string, after: string, context = 3): readonly string[] {
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
