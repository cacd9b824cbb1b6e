import { showInvisible } from '../../base/invisible-characters.ts'

/** Aligns rows in columns within a width; the widest columns wrap first, at spaces. Ids are never wrapped. */
export function formatTable(header: readonly string[], cells: readonly (readonly string[])[], width: number): string {
  const rows = cells.map((row) => row.map(showInvisible))
  const all = [header, ...rows]
  const widths = shrink(
    header.map((_, column) => Math.max(...all.map((row) => maxLineLength(row[column] ?? '')))),
    width,
    header.map((_, column) => rows.some((row) => isId(row[column] ?? ''))),
  )
  const lines = [...layOut(header, widths), widths.map((size) => '─'.repeat(size)).join('  ')]
  for (const row of rows) lines.push(...layOut(row, widths))
  return lines.map((line) => line.trimEnd()).join('\n')
}

const gap = 2
const minWidth = 12

const isId = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

function shrink(wanted: readonly number[], width: number, fixed: readonly boolean[]): readonly number[] {
  const widths = [...wanted]
  const room = width - gap * (widths.length - 1)
  while (widths.reduce((sum, size) => sum + size, 0) > room) {
    const maxWidth = Math.max(...widths.filter((_, column) => !fixed[column]))
    const widest = widths.findIndex((size, column) => size === maxWidth && !fixed[column])
    if (widest < 0 || (widths[widest] ?? 0) <= minWidth) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

function layOut(row: readonly string[], widths: readonly number[]): readonly string[] {
  const cells = widths.map((size, column) => wrap(row[column] ?? '', size))
  const height = Math.max(...cells.map((cell) => cell.length))
  return Array.from({ length: height }, (_, line) =>
    cells.map((cell, column) => (cell[line] ?? '').padEnd(widths[column] ?? 0)).join(' '.repeat(gap)),
  )
}

function wrap(text: string, size: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = []
    let rest = line
    while (rest.length > size) {
      const space = rest.lastIndexOf(' ', size)
      const cut = space > 0 ? space : size
      lines.push(rest.slice(0, cut))
      rest = rest.slice(cut).trimStart()
    }
    return [...lines, rest]
  })
}

const maxLineLength = (text: string) => Math.max(...text.split('\n').map((line) => line.length))
