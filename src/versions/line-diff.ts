/** The changed lines of two texts: ` ` unchanged, `-` removed, `+` added, with a few lines of context. */
export function lineDiff(before: string, after: string, context = 3): readonly string[] {
  const [a, b] = [toLines(before), toLines(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  if (start === a.length && start === b.length) return []
  return [
    ...a.slice(Math.max(0, start - context), start).map((line) => ` ${line}`),
    ...a.slice(start, a.length - end).map((line) => `-${line}`),
    ...b.slice(start, b.length - end).map((line) => `+${line}`),
    ...a.slice(a.length - end, a.length - end + context).map((line) => ` ${line}`),
  ]
}

const toLines = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
