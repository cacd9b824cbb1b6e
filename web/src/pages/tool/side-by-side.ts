/** A row of two texts side by side; an absent side has no such line. */
export interface DiffRow {
  readonly key: string
  readonly before: string | undefined
  readonly after: string | undefined
  readonly isChanged: boolean
}

/** Longer texts are compared by their equal beginnings and ends only. */
const maxCells = 1_000_000
const context = 3

/** Two texts line by line; equal lines far from any change are left out. */
export function sideBySide(before: string, after: string): readonly DiffRow[] {
  const rows = align(before === '' ? [] : before.split('\n'), after === '' ? [] : after.split('\n'))
  const isNear = rows.map((_, index) =>
    rows.slice(Math.max(0, index - context), index + context + 1).some(({ isChanged }) => isChanged),
  )
  return rows.flatMap((row, index) => {
    if (isNear[index]) return [row]
    return index > 0 && isNear[index - 1] ? [{ key: `gap ${index}`, before: '…', after: '…', isChanged: false }] : []
  })
}

function align(before: readonly string[], after: readonly string[]): readonly DiffRow[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const middle = alignMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end))
  const pairs: (readonly [string | undefined, string | undefined])[] = [
    ...before.slice(0, start).map((line) => [line, line] as const),
    ...middle,
    ...before.slice(before.length - end).map((line) => [line, line] as const),
  ]
  return pairs.map(([left, right], index) => ({
    key: String(index),
    before: left,
    after: right,
    isChanged: left !== right,
  }))
}

/** The longest common subsequence; runs of removed and added lines are put beside each other. */
function alignMiddle(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [string | undefined, string | undefined])[] {
  if (before.length * after.length > maxCells) return pair(before, after)
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        before[i] === after[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
  const rows: (readonly [string | undefined, string | undefined])[] = []
  let [i, j, removed, added] = [0, 0, [] as string[], [] as string[]]
  const flush = () => {
    rows.push(...pair(removed, added))
    removed = []
    added = []
  }
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      flush()
      rows.push([before[i++], after[j++]])
    } else if (
      j >= after.length ||
      (i < before.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    )
      removed.push(before[i++] as string)
    else added.push(after[j++] as string)
  }
  flush()
  return rows
}

const pair = (removed: readonly string[], added: readonly string[]) =>
  Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => [removed[index], added[index]] as const)
